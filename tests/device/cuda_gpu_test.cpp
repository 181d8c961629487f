// The CUDA device on a GPU: memory, queues, events, capture and replay.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "gpu.h"

namespace trainyard::cuda {
namespace {

std::vector<std::byte> counting(std::size_t bytes) {
  std::vector<std::byte> list(bytes);
  for (std::size_t i = 0; i < bytes; ++i) list[i] = static_cast<std::byte>(i * 7 % 251);
  return list;
}

TEST_CASE("bytes are copied to the GPU, within it and back" * doctest::skip(test::no_gpu())) {
  const auto device = make_cuda_device(0);
  CHECK(device->name() == "cuda:0");
  const auto queue = device->make_queue();
  const std::vector<std::byte> sent = counting(100003);
  std::vector<std::byte> received(sent.size());
  const auto first = device->allocate(sent.size()), second = device->allocate(sent.size());
  CHECK(reinterpret_cast<std::uintptr_t>(first->data()) % 256 == 0);
  queue->copy_from_host(first->data(), sent.data(), sent.size());
  queue->copy(second->data(), first->data(), sent.size());
  queue->copy_to_host(received.data(), second->data(), sent.size());
  queue->wait();
  CHECK(received == sent);
  queue->fill(second->data(), std::byte{0x5a}, sent.size());
  queue->copy_to_host(received.data(), second->data(), sent.size());
  queue->wait();
  CHECK(received == std::vector<std::byte>(sent.size(), std::byte{0x5a}));
}

TEST_CASE("an allocation beyond the free memory is a memory error that names the free memory" *
          doctest::skip(test::no_gpu())) {
  const auto device = make_cuda_device(0);
  const std::size_t free = device->free_bytes();
  CHECK(free > 0);
  std::string text;
  int code = 0;
  try {
    static_cast<void>(device->allocate(std::size_t{1} << 50));
  } catch (const Error& error) {
    text = error.what();
    code = error.exit_code();
  }
  CHECK(code == 6);
  CHECK(text.starts_with("out of memory on cuda:0: 1073741824 MiB requested, "));
  // The failure leaves nothing behind.
  CHECK(device->allocate(1 << 20)->data() != nullptr);
}

TEST_CASE("a GPU reports its utilization in percent, or none" * doctest::skip(test::no_gpu())) {
  const std::optional<int> busy = make_cuda_device(0)->busy_percent();
  const std::optional<int> surveyed = survey().gpus.at(0).busy_percent;
  CHECK(busy.has_value() == surveyed.has_value());
  CHECK(busy.value_or(0) >= 0);
  CHECK(busy.value_or(0) <= 100);
}

TEST_CASE("an event orders two queues" * doctest::skip(test::no_gpu())) {
  const auto device = make_cuda_device(0);
  const auto one = device->make_queue(), two = device->make_queue();
  const std::vector<std::byte> sent = counting(1 << 20);
  std::vector<std::byte> received(sent.size());
  const auto memory = device->allocate(sent.size());
  const auto event = device->make_event();
  one->copy_from_host(memory->data(), sent.data(), sent.size());
  event->record(*one);
  event->wait_on(*two);
  two->copy_to_host(received.data(), memory->data(), sent.size());
  two->wait();
  CHECK(event->done());
  CHECK(received == sent);
}

TEST_CASE("a captured graph runs when it is replayed, on the memory's contents at that time" *
          doctest::skip(test::no_gpu())) {
  const auto device = make_cuda_device(0);
  const auto queue = device->make_queue();
  const auto from = device->allocate(4096), to = device->allocate(4096);
  queue->fill(from->data(), std::byte{1}, 4096);
  queue->fill(to->data(), std::byte{0}, 4096);
  const CapturedGraph graph(*queue, Overlap::none,
                            [&] { queue->copy(to->data(), from->data(), 4096); });
  CHECK(graph.nodes() == 1);
  std::vector<std::byte> received(4096);
  const auto read = [&] {
    queue->copy_to_host(received.data(), to->data(), 4096);
    queue->wait();
    return received;
  };
  CHECK(read() == std::vector<std::byte>(4096, std::byte{0}));
  for (const std::byte value : {std::byte{3}, std::byte{9}}) {
    queue->fill(from->data(), value, 4096);
    graph.replay(*queue);
    CHECK(read() == std::vector<std::byte>(4096, value));
  }
}

TEST_CASE("copies of some nodes of recorded work run alone, in order" *
          doctest::skip(test::no_gpu())) {
  constexpr std::size_t kNodes = 12;
  constexpr int kCopies = 5;
  const auto device = make_cuda_device(0);
  const auto queue = device->make_queue();
  const auto memory = device->allocate(kNodes + 1);
  auto* const bytes = static_cast<std::byte*>(memory->data());
  // Node i moves byte i one place on.
  const auto shift = [&] {
    for (std::size_t i = 0; i < kNodes; ++i) queue->copy(bytes + i + 1, bytes + i, 1);
  };
  for (const NodeRange& range : {NodeRange{0, 1}, NodeRange{7, 1}, NodeRange{11, 1},
                                 NodeRange{3, 4}, NodeRange{0, kNodes}}) {
    CAPTURE(range.first);
    std::vector<std::byte> expected = counting(kNodes + 1), received(kNodes + 1);
    queue->copy_from_host(bytes, expected.data(), expected.size());
    const auto recording = device->record_copies(*queue, shift, kCopies, range);
    CHECK(recording->nodes() == kCopies * range.count);
    recording->replay();
    queue->copy_to_host(received.data(), bytes, received.size());
    queue->wait();
    for (std::size_t i = 0; i < range.count; ++i) {
      expected[range.first + i + 1] = expected[range.first + i];
    }
    CHECK(received == expected);
  }
}

TEST_CASE("work that cannot be captured is an error, and the queue remains usable" *
          doctest::skip(test::no_gpu())) {
  const auto device = make_cuda_device(0);
  const auto queue = device->make_queue();
  CHECK_THROWS_AS(CapturedGraph(*queue, Overlap::none, [&] { queue->wait(); }), Error);
  CHECK_THROWS_AS(CapturedGraph(*queue, Overlap::none, [] { throw Error(ErrorKind::data, "own"); }),
                  Error);
  const auto memory = device->allocate(64);
  queue->fill(memory->data(), std::byte{1}, 64);
  CHECK_NOTHROW(queue->wait());
}

}  // namespace
}  // namespace trainyard::cuda
