#include "late_compute.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/error.h"
#include "ranks/comm/forwarding_communicator.h"

namespace trainyard::test {
namespace {

class PinnedBuffer final : public DeviceBuffer {
 public:
  PinnedBuffer(LateMachine& machine, std::unique_ptr<DeviceBuffer> memory)
      : machine_(machine), memory_(std::move(memory)) {
    machine_.pinned.push_back(this);
  }
  ~PinnedBuffer() override { std::erase(machine_.pinned, this); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  [[nodiscard]] void* data() const override { return memory_->data(); }
  [[nodiscard]] std::size_t bytes() const override { return memory_->bytes(); }

 private:
  LateMachine& machine_;
  std::unique_ptr<DeviceBuffer> memory_;
};

class LateEvent final : public Event {
 public:
  explicit LateEvent(LateMachine& machine) : machine_(machine) {}
  void record(Queue& queue) override {
    const int number = ++recorded_;
    static_cast<LateQueue&>(queue).run([this, number] { done_ = number; });
  }
  void wait_on(Queue& queue) override {
    const int number = recorded_;
    static_cast<LateQueue&>(queue).put([this, number] { return done_ >= number; }, [] {});
  }
  void wait() override {
    const int number = recorded_;
    machine_.work_until([this, number] { return done_ >= number; });
  }
  [[nodiscard]] bool done() const override { return done_ >= recorded_; }

 private:
  LateMachine& machine_;
  int recorded_ = 0, done_ = 0;
};

class LateDevice final : public Device {
 public:
  explicit LateDevice(LateMachine& machine) : machine_(machine) {}
  [[nodiscard]] std::string name() const override { return "late"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return std::make_unique<PinnedBuffer>(machine_, cpu_->allocate(bytes));
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    auto queue = std::make_unique<LateQueue>(machine_);
    machine_.order.push_back(queue.get());
    return queue;
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
  LateMachine& machine_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

/// Ranks on the host, called when the late queue reaches the call.
class LateRanks final : public ForwardingCommunicator {
 public:
  explicit LateRanks(Communicator& ranks) : ForwardingCommunicator(ranks) {}
  [[nodiscard]] bool recordable() const override { return true; }
  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) override {
    late(queue).run([=, this] { inner().all_reduce_sum(*host_, data, count, type); });
  }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    Communicator::all_reduce_sums(queue, parts);
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    late(queue).run([=, this] { inner().broadcast(*host_, data, bytes, root); });
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    late(queue).run([=, this] { inner().all_gather(*host_, mine, bytes, out); });
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    late(queue).run([=, this] { inner().all_to_all(*host_, mine, bytes, out); });
  }

 private:
  static LateQueue& late(Queue& queue) { return static_cast<LateQueue&>(queue); }
  std::unique_ptr<Queue> host_ = make_cpu_device()->make_queue();
};

}  // namespace

bool LateMachine::work() {
  return std::ranges::any_of(order, [](LateQueue* queue) { return queue->work(); });
}

void LateMachine::work_until(const std::function<bool()>& done) {
  while (!done()) {
    if (!work()) throw Error(ErrorKind::bug, "the host waits for work that will never run");
  }
}

void LateMachine::work_all() {
  while (work()) {
  }
}

bool LateMachine::is_pinned(const void* memory) const {
  const auto* const at = static_cast<const std::byte*>(memory);
  return std::ranges::any_of(pinned, [at](const DeviceBuffer* buffer) {
    const auto* const begin = static_cast<const std::byte*>(buffer->data());
    return at >= begin && at < begin + buffer->bytes();
  });
}

LateQueue::~LateQueue() { std::erase(machine_.order, this); }

void LateQueue::put(std::function<bool()> may_begin, std::function<void()> work) {
  work_.push_back({std::move(may_begin), std::move(work)});
}

void LateQueue::run(std::function<void()> work) {
  put([] { return true; }, std::move(work));
}

void LateQueue::copy(void* to, const void* from, std::size_t bytes) {
  run([=] { std::memcpy(to, from, bytes); });
}

void LateQueue::copy_from_host(void* to, const void* from, std::size_t bytes) {
  if (machine_.is_pinned(from)) return copy(to, from, bytes);
  // The caller may change it once this returns.
  const auto* const first = static_cast<const std::byte*>(from);
  run([to, kept = std::vector<std::byte>(first, first + bytes)] {
    std::memcpy(to, kept.data(), kept.size());
  });
}

void LateQueue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes);
}

void LateQueue::fill(void* to, std::byte value, std::size_t bytes) {
  run([=] { std::memset(to, static_cast<int>(value), bytes); });
}

void LateQueue::wait() {
  machine_.work_until([this] { return work_.empty(); });
}

bool LateQueue::work() {
  if (work_.empty() || !work_.front().may_begin()) return false;
  const std::function<void()> next = std::move(work_.front().run);
  work_.pop_front();
  next();
  return true;
}

std::unique_ptr<Device> make_late_device(LateMachine& machine) {
  return std::make_unique<LateDevice>(machine);
}

LateCompute::LateCompute(const ExecutorFactory& executors, Communicator& ranks, Ahead ahead)
    : executors_(wrap_executors(queue_, executors)),
      launches_(wrap_launches(queue_)),
      ranks_(std::make_unique<LateRanks>(ranks)) {
  machine_.order =
      ahead == Ahead::model ? std::vector{&queue_, &sums_} : std::vector{&sums_, &queue_};
  machine_.order.push_back(&copies_);
}

Compute LateCompute::compute() {
  return {*device_, queue_, *executors_, *launches_, &copies_, &sums_};
}

}  // namespace trainyard::test
