// Uploads on a device whose queues work later than the host asks, one ahead of the other as far as
// events allow: whatever the order, each batch must arrive whole.
#include "run/batch_upload.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/error.h"

using namespace trainyard;

namespace {

/// Work that has been asked for; `may_begin` says whether what it waits for is done.
struct Work {
  std::function<bool()> may_begin;
  std::function<void()> run;
};

class LateQueue final : public Queue {
 public:
  void put(Work work) { work_.push_back(std::move(work)); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    put({[] { return true; }, [=] { std::memcpy(to, from, bytes); }});
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    put({[] { return true; }, [=] { std::memset(to, static_cast<int>(value), bytes); }});
  }
  void wait() override {}
  /// Works as far as it may; true if it did anything.
  bool work() {
    bool worked = false;
    while (!work_.empty() && work_.front().may_begin()) {
      work_.front().run();
      work_.pop_front();
      worked = true;
    }
    return worked;
  }

 private:
  std::deque<Work> work_;
};

/// The queues of a device, in the order in which they are let work.
struct Machine {
  std::vector<LateQueue*> order;

  void work_all() {
    while (std::ranges::any_of(order, [](LateQueue* queue) { return queue->work(); })) {
    }
  }
};

class LateEvent final : public Event {
 public:
  explicit LateEvent(Machine& machine) : machine_(machine) {}
  void record(Queue& queue) override {
    const int number = ++recorded_;
    static_cast<LateQueue&>(queue).put({[] { return true; }, [this, number] { done_ = number; }});
  }
  void wait_on(Queue& queue) override {
    const int number = recorded_;
    static_cast<LateQueue&>(queue).put({[this, number] { return done_ >= number; }, [] {}});
  }
  /// Lets the queues work until this is done, and no further.
  void wait() override {
    const int number = recorded_;
    while (done_ < number) {
      const bool worked =
          std::ranges::any_of(machine_.order, [](LateQueue* queue) { return queue->work(); });
      if (!worked) throw Error(ErrorKind::bug, "the host waits for what nobody will do");
    }
  }
  [[nodiscard]] bool done() const override { return done_ >= recorded_; }

 private:
  Machine& machine_;
  int recorded_ = 0, done_ = 0;
};

class LateDevice final : public Device {
 public:
  explicit LateDevice(Machine& machine) : machine_(machine) {}
  [[nodiscard]] std::string name() const override { return "late"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<LateQueue>();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<LateEvent>(machine_);
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    return cpu_->record(queue, std::move(work));
  }
  [[nodiscard]] std::size_t free_bytes() const override { return 0; }

 private:
  Machine& machine_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

constexpr int kBatches = 9;

/// What the model's queue found at `images` and `labels` after each upload.
std::vector<std::vector<int>> arrivals(bool copies_first, bool work_between) {
  LateQueue queue, copies;
  Machine machine{copies_first ? std::vector{&copies, &queue} : std::vector{&queue, &copies}};
  LateDevice device(machine);
  const std::size_t bytes = 40 * sizeof(int);
  BatchUpload upload(device, queue, copies,
                     BatchUpload::room_for(bytes) + BatchUpload::room_for(sizeof(int)));
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
    std::ranges::fill(batch, -1);  // the feeder's memory is used again
    queue.copy(seen[static_cast<std::size_t>(i)].data(), images.data(), bytes);
    queue.copy(seen[static_cast<std::size_t>(i)].data() + 40, &label, sizeof label);
    if (work_between) machine.order.front()->work();
  }
  machine.work_all();
  return seen;
}

}  // namespace

TEST_CASE("every batch arrives whole, however far the queues are behind the host") {
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

TEST_CASE("two batches are on their way before the host waits for one") {
  LateQueue queue, copies;
  Machine idle{{}};
  LateDevice device(idle);
  BatchUpload upload(device, queue, copies, BatchUpload::room_for(sizeof(int)));
  int from = 1, to = 0;
  const Upload part{&to, &from, sizeof from};
  upload.put(std::span(&part, 1));
  upload.put(std::span(&part, 1));
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);  // nobody works
}

TEST_CASE("a batch larger than an upload's room is refused") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  BatchUpload upload(*device, *queue, *queue, BatchUpload::room_for(10));
  std::vector<std::byte> bytes(300);
  const Upload part{bytes.data(), bytes.data(), bytes.size()};
  CHECK_THROWS_AS(upload.put(std::span(&part, 1)), Error);
}
