// Uploads on a device whose queues run later than the host enqueues, one ahead of the other as far
// as events allow: in any order, each batch must arrive complete.
#include "model/batch_upload.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "late_compute.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr int kBatches = 9;

/// The values that the model's queue found in `images` and `labels` after each upload.
std::vector<std::vector<int>> arrivals(bool copies_first, bool work_between) {
  LateMachine machine;
  LateQueue queue(machine), copies(machine);
  machine.order = copies_first ? std::vector{&copies, &queue} : std::vector{&queue, &copies};
  const auto device = make_late_device(machine);
  const std::size_t bytes = 40 * sizeof(int);
  BatchUpload upload(*device, queue, copies, aligned_bytes(bytes) + aligned_bytes(sizeof(int)));
  std::vector<int> images(40), batch(40);
  int label = 0, given = 0;
  std::vector<std::vector<int>> seen(kBatches, std::vector<int>(41));
  for (int i = 0; i < kBatches; ++i) {
    std::ranges::fill(batch, i);
    given = 100 + i;
    const std::vector<Upload> parts{{images.data(), batch.data(), bytes},
                                    {nullptr, nullptr, 0},
                                    {&label, &given, sizeof given}};
    upload.put(parts);
    std::ranges::fill(batch, -1);  // the feeder's memory is reused
    queue.copy(seen[static_cast<std::size_t>(i)].data(), images.data(), bytes);
    queue.copy(seen[static_cast<std::size_t>(i)].data() + 40, &label, sizeof label);
    while (work_between && machine.order.front()->work()) {
    }
  }
  machine.work_all();
  return seen;
}

}  // namespace

TEST_CASE("every batch arrives complete, however far the queues are behind the host") {
  std::vector<std::vector<int>> expected;
  for (int i = 0; i < kBatches; ++i) {
    expected.emplace_back(40, i);
    expected.back().push_back(100 + i);
  }
  for (const bool copies_first : {false, true}) {
    for (const bool work_between : {false, true}) {
      CAPTURE(copies_first);
      CAPTURE(work_between);
      CHECK(arrivals(copies_first, work_between) == expected);
    }
  }
}

TEST_CASE("two batches are in flight before the host waits for one") {
  LateMachine idle;
  LateQueue queue(idle), copies(idle);
  const auto device = make_late_device(idle);
  BatchUpload upload(*device, queue, copies, aligned_bytes(sizeof(int)));
  int from = 1, to = 0;
  const Upload part{&to, &from, sizeof from};
  upload.put(std::span(&part, 1));
  upload.put(std::span(&part, 1));
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);  // no queue runs
}

TEST_CASE("a batch larger than the upload buffer is refused") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  BatchUpload upload(*device, *queue, *queue, aligned_bytes(10));
  std::vector<std::byte> bytes(300);
  const Upload part{bytes.data(), bytes.data(), bytes.size()};
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);
}
