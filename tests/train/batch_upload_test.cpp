// Batches on a device whose queues run later than the host enqueues, one ahead of the other as far
// as events allow: in any order, each batch must arrive complete.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "model/batch_memory.h"
#include "simulated_gpu.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kBatches = 11;

/// What the device has at home, as two parts, and a third that is read in its place.
struct Home {
  std::vector<std::byte> memory = std::vector<std::byte>(2 * kSlotAlignment);
  std::vector<int> images = std::vector<int>(40, -2);

  [[nodiscard]] std::vector<BatchPart> parts() {
    return {{.home = memory.data() + kSlotAlignment, .bytes = sizeof(int)},
            {.home = memory.data(), .bytes = 2 * sizeof(int)},
            {.home = reinterpret_cast<std::byte*>(images.data()),
             .bytes = images.size() * sizeof(int),
             .in_place = true}};
  }
};

/// A model's compute on late queues; null copies: a queue that works synchronously.
class Late {
 public:
  explicit Late(bool copies_first, bool uploads = true) : uploads_(uploads) {
    machine.order = copies_first ? std::vector{&copies, &queue} : std::vector{&queue, &copies};
  }
  [[nodiscard]] Compute compute() {
    return {*device_, queue, *executors_, *launches_, uploads_ ? &copies : nullptr};
  }
  SimulatedMachine machine;
  SimulatedQueue queue{machine}, copies{machine};

 private:
  bool uploads_;
  std::unique_ptr<Device> device_ = make_simulated_device(machine);
  std::unique_ptr<ExecutorFactory> executors_ = make_reference_executors();
  std::unique_ptr<UpdateLaunches> launches_ = make_cpu_update_launches(1);
};

/// The values that the model's queue found in the three parts of each batch.
std::vector<std::vector<int>> arrivals(Late& late, bool work_between) {
  Home home;
  BatchMemory memory(late.compute(), home.parts());
  std::vector<int> images(40), pair(2);
  int label = 0;
  std::vector<std::vector<int>> seen(kBatches, std::vector<int>(43));
  for (int i = 0; i < kBatches; ++i) {
    std::ranges::fill(images, i);
    pair = {200 + i, 300 + i};
    label = 100 + i;
    const std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span(&label, 1)),
                                                        std::as_bytes(std::span(pair)),
                                                        std::as_bytes(std::span(images))};
    memory.put(parts);
    label = -1;  // the feeder's memory is reused
    std::ranges::fill(pair, -1);
    std::ranges::fill(images, -1);
    memory.take();
    std::vector<int>& to = seen[static_cast<std::size_t>(i)];
    late.queue.copy(to.data(), memory.data(2, memory.slot()), 40 * sizeof(int));
    late.queue.copy(to.data() + 40, home.parts()[0].home, sizeof(int));
    late.queue.copy(to.data() + 41, home.parts()[1].home, 2 * sizeof(int));
    while (work_between && late.machine.order.front()->work()) {
    }
  }
  late.machine.work_all();
  return seen;
}

std::vector<std::vector<int>> expected_arrivals() {
  std::vector<std::vector<int>> expected;
  for (int i = 0; i < kBatches; ++i) {
    expected.emplace_back(40, i);
    expected.back().insert(expected.back().end(), {100 + i, 200 + i, 300 + i});
  }
  return expected;
}

}  // namespace

TEST_CASE("every batch arrives complete, however far the queues are behind the host") {
  for (const bool copies_first : {false, true}) {
    for (const bool work_between : {false, true}) {
      CAPTURE(copies_first);
      CAPTURE(work_between);
      Late late(copies_first);
      CHECK(arrivals(late, work_between) == expected_arrivals());
    }
  }
}

TEST_CASE("on a device that works synchronously a batch is copied to its homes") {
  Late late(true, false);
  CHECK(arrivals(late, false) == expected_arrivals());
}

TEST_CASE("batches are read in four slots in turn, or in one") {
  Home home;
  for (const bool uploads : {true, false}) {
    Late late(true, uploads);
    BatchMemory memory(late.compute(), home.parts());
    CHECK(memory.slots() == (uploads ? 4 : 1));
    std::vector<const std::byte*> places;
    const std::vector<std::span<const std::byte>> empty(3);
    for (std::size_t i = 0; i < 2 * memory.slots(); ++i) {
      memory.put(empty);
      CHECK(memory.slot() == i % memory.slots());
      places.push_back(memory.data(2, memory.slot()));
      CHECK(places[i] == places[i % memory.slots()]);
      late.machine.work_all();
    }
    std::ranges::sort(places);
    CHECK(std::ranges::distance(places.begin(), std::ranges::unique(places).begin()) ==
          static_cast<std::ptrdiff_t>(memory.slots()));
  }
}

TEST_CASE("four batches are in flight before the host waits for one") {
  SimulatedMachine idle;
  SimulatedQueue queue(idle), copies(idle);
  const auto device = make_simulated_device(idle);
  BatchUpload upload(*device, queue, copies, aligned_bytes(sizeof(int)));
  int from = 1;
  const Upload part{&from, sizeof from};
  for (int i = 0; i < 4; ++i) upload.put(std::span(&part, 1));
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);  // no queue runs
}

TEST_CASE("a batch larger than its slot is refused") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  BatchUpload upload(*device, *queue, *queue, aligned_bytes(10));
  std::vector<std::byte> bytes(300);
  const Upload part{bytes.data(), bytes.size()};
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);
  Home home;
  Late late(true);
  BatchMemory memory(late.compute(), home.parts());
  const std::vector<std::span<const std::byte>> large{bytes, bytes, {}};
  CHECK_THROWS_AS(memory.put(large), Error);
  CHECK_THROWS_AS(memory.put(std::span(large).first(1)), Error);
}
