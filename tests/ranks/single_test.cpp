#include <doctest/doctest.h>

#include <array>

#include "base/error.h"
#include "ranks/comm/communicator.h"

using namespace trainyard;

TEST_CASE("a group of one is rank 0 of 1") {
  const auto group = make_single_communicator();
  CHECK(group->rank() == 0);
  CHECK(group->size() == 1);
}

TEST_CASE("a broadcast from a rank that does not exist is refused") {
  const auto group = make_single_communicator();
  const auto queue = make_cpu_device()->make_queue();
  std::array<std::byte, 1> bytes{std::byte{5}};
  group->broadcast(*queue, bytes.data(), 1, 0);
  CHECK(bytes[0] == std::byte{5});
  CHECK_THROWS_AS(group->broadcast(*queue, bytes.data(), 1, 1), Error);
}

TEST_CASE("bytes are not all-reduced") {
  const auto group = make_single_communicator();
  const auto queue = make_cpu_device()->make_queue();
  std::array<std::uint8_t, 1> bytes{5};
  CHECK_THROWS_AS(group->all_reduce_sum(*queue, bytes.data(), 1, DType::u8), Error);
}
