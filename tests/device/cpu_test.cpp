#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "device/device.h"

using namespace trainyard;

TEST_CASE("CPU buffers are aligned to 256 bytes, large ones to huge pages") {
  const auto device = make_cpu_device();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
    const auto buffer = device->allocate(bytes);
    REQUIRE(buffer->data() != nullptr);
    CHECK(buffer->bytes() == bytes);
    const std::size_t alignment = bytes >= (std::size_t{2} << 20) ? std::size_t{2} << 20 : 256;
    CHECK(reinterpret_cast<std::uintptr_t>(buffer->data()) % alignment == 0);
  }
}

TEST_CASE("copies and fills of a CPU queue are done when the call returns") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto first = device->allocate(4);
  const auto second = device->allocate(4);
  const std::array<std::uint8_t, 4> sent{1, 2, 3, 4};
  queue->copy_from_host(first->data(), sent.data(), 4);
  queue->copy(second->data(), first->data(), 4);
  queue->fill(first->data(), std::byte{0xAB}, 4);
  std::array<std::uint8_t, 4> found{};
  queue->copy_to_host(found.data(), second->data(), 4);
  CHECK(found == sent);
  queue->copy_to_host(found.data(), first->data(), 4);
  CHECK(found == std::array<std::uint8_t, 4>{0xAB, 0xAB, 0xAB, 0xAB});
}

TEST_CASE("the CPU has free memory") {
  CHECK(make_cpu_device()->free_bytes() > (std::size_t{1} << 20));
  CHECK(make_cpu_device()->name() == "cpu");
}

TEST_CASE("the CPU has no utilization count") {
  CHECK_FALSE(make_cpu_device()->busy_percent().has_value());
}
