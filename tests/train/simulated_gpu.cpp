#include "simulated_gpu.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/error.h"
#include "ranks/comm/communicator.h"

namespace trainyard::test {
namespace {

class GuardedBuffer final : public DeviceBuffer {
 public:
  GuardedBuffer(SimulatedMachine& machine, std::size_t bytes)
      : machine_(machine), data_(machine.add(bytes)), bytes_(bytes) {}
  ~GuardedBuffer() override { machine_.remove(data_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  SimulatedMachine& machine_;
  void* data_;
  std::size_t bytes_;
};

class PinnedBuffer final : public DeviceBuffer {
 public:
  PinnedBuffer(SimulatedMachine& machine, std::unique_ptr<DeviceBuffer> memory)
      : machine_(machine), memory_(std::move(memory)) {
    machine_.pinned.push_back(this);
  }
  ~PinnedBuffer() override { std::erase(machine_.pinned, this); }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  [[nodiscard]] void* data() const override { return memory_->data(); }
  [[nodiscard]] std::size_t bytes() const override { return memory_->bytes(); }

 private:
  SimulatedMachine& machine_;
  std::unique_ptr<DeviceBuffer> memory_;
};

class SimulatedEvent final : public Event {
 public:
  explicit SimulatedEvent(SimulatedMachine& machine) : machine_(machine) {}
  void record(Queue& queue) override {
    const int number = ++recorded_;
    static_cast<SimulatedQueue&>(queue).run([this, number] { done_ = number; });
  }
  void wait_on(Queue& queue) override {
    const int number = recorded_;
    static_cast<SimulatedQueue&>(queue).put([this, number] { return done_ >= number; }, [] {});
  }
  void wait() override {
    const int number = recorded_;
    machine_.work_until([this, number] { return done_ >= number; });
  }
  [[nodiscard]] bool done() const override { return done_ >= recorded_; }

 private:
  SimulatedMachine& machine_;
  int recorded_ = 0, done_ = 0;
};

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(SimulatedMachine& machine) : machine_(machine) {}
  [[nodiscard]] std::string name() const override { return "simulated"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    machine_.refuse_in_recording("an allocation");
    return std::make_unique<GuardedBuffer>(machine_, bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return std::make_unique<PinnedBuffer>(machine_, cpu_->allocate(bytes));
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    auto queue = std::make_unique<SimulatedQueue>(machine_);
    machine_.order.push_back(queue.get());
    return queue;
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<SimulatedEvent>(machine_);
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    return cpu_->record(queue, [this, work = std::move(work)] { machine_.record(work); });
  }
  [[nodiscard]] std::size_t free_bytes() const override { return 0; }

 private:
  SimulatedMachine& machine_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

class WrappedExecutor final : public Executor {
 public:
  WrappedExecutor(Around& around, std::unique_ptr<Executor> executor)
      : around_(around), executor_(std::move(executor)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override { executor_->bind(tensors); }
  void run() override {
    around_.run([this] { executor_->run(); });
  }

 private:
  Around& around_;
  std::unique_ptr<Executor> executor_;
};

class WrappedExecutors final : public ExecutorFactory {
 public:
  WrappedExecutors(Around& around, const ExecutorFactory& executors)
      : around_(around), executors_(executors) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    return wrapped(executors_.make(step));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return wrapped(executors_.make_reorder(from, from_type, to, to_type, threads));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return wrapped(executors_.make_accumulate(layout, type, threads));
  }
  [[nodiscard]] std::string libraries() const override { return executors_.libraries(); }

 private:
  [[nodiscard]] std::unique_ptr<Executor> wrapped(std::unique_ptr<Executor> executor) const {
    return std::make_unique<WrappedExecutor>(around_, std::move(executor));
  }
  Around& around_;
  const ExecutorFactory& executors_;
};

/// The arguments of a launch are copied: the work may run later.
class WrappedLaunches final : public UpdateLaunches {
 public:
  explicit WrappedLaunches(Around& around) : around_(around) {}
  void judge(const JudgeMicroBatch& judge) const override {
    around_.run([=, this] { cpu_->judge(judge); });
  }
  void begin(const BeginUpdate& begin) const override {
    around_.run([this, begin] { cpu_->begin(begin); });
  }
  void store_rows(const SampleResults& results, const std::int64_t* sample_index,
                  float* rows) const override {
    around_.run(
        [this, results, sample_index, rows] { cpu_->store_rows(results, sample_index, rows); });
  }
  void add_results(const ResultTable& results, double* totals) const override {
    around_.run([this, results, totals] { cpu_->add_results(results, totals); });
  }
  void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                  bool first) const override {
    around_.run([=, this] { cpu_->accumulate(blocks, gradients, elements, first); });
  }
  void downcast(void* to, DType type, const float* from, std::int64_t elements) const override {
    around_.run([=, this] { cpu_->downcast(to, type, from, elements); });
  }
  void upcast(float* to, const void* from, DType type, std::int64_t elements) const override {
    around_.run([=, this] { cpu_->upcast(to, from, type, elements); });
  }
  void finish_gradients(const UpdateBlocks& blocks, const GradientFinish& task) const override {
    around_.run([=, this] { cpu_->finish_gradients(blocks, task); });
  }
  void regularisation_loss(const UpdateBlocks& blocks, const SpanSums& sums,
                           double* loss) const override {
    around_.run([=, this] { cpu_->regularisation_loss(blocks, sums, loss); });
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule, double time_decay,
              const StatisticBlocks& statistics) const override {
    around_.run([=, this] { cpu_->update(blocks, rule, time_decay, statistics); });
  }
  void average(const AverageBlocks& blocks) const override {
    around_.run([this, blocks] { cpu_->average(blocks); });
  }
  void end(const EndUpdate& end) const override {
    around_.run([this, end] { cpu_->end(end); });
  }

 private:
  Around& around_;
  std::unique_ptr<UpdateLaunches> cpu_ = make_cpu_update_launches(1);
};

/// Ranks on the host, called when the late queue reaches the call.
class QueuedRanks final : public ForwardingCommunicator {
 public:
  explicit QueuedRanks(Communicator& ranks) : ForwardingCommunicator(ranks) {}
  [[nodiscard]] bool recordable() const override { return true; }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    for (const SumPart part : parts) {
      late(queue).run(
          [=, this] { inner().all_reduce_sum(*host_, part.data, part.count, part.type); });
    }
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
  static SimulatedQueue& late(Queue& queue) { return static_cast<SimulatedQueue&>(queue); }
  std::unique_ptr<Queue> host_ = make_cpu_device()->make_queue();
};

}  // namespace

bool SimulatedMachine::work() {
  return std::ranges::any_of(order, [](SimulatedQueue* queue) { return queue->work(); });
}

void SimulatedMachine::work_until(const std::function<bool()>& done) {
  while (!done()) {
    if (!work()) throw Error(ErrorKind::bug, "the host waits for work that will never run");
  }
}

void SimulatedMachine::work_all() {
  while (work()) {
  }
}

bool SimulatedMachine::is_pinned(const void* memory) const {
  const auto* const at = static_cast<const std::byte*>(memory);
  return std::ranges::any_of(pinned, [at](const DeviceBuffer* buffer) {
    const auto* const begin = static_cast<const std::byte*>(buffer->data());
    return at >= begin && at < begin + buffer->bytes();
  });
}

void* SimulatedMachine::add(std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  std::memset(data, 0xFF, bytes);
  mprotect(data, bytes, depth_ == 0 ? PROT_NONE : PROT_READ | PROT_WRITE);
  blocks_[data] = bytes;
  return data;
}

void SimulatedMachine::remove(void* memory) {
  munmap(memory, blocks_.at(memory));
  blocks_.erase(memory);
}

void SimulatedMachine::protect(int access) const {
  for (const auto& [data, bytes] : blocks_) {
    if (mprotect(data, bytes, access) != 0) throw std::runtime_error("mprotect failed");
  }
}

void SimulatedMachine::access(const std::function<void()>& work) {
  if (depth_++ == 0) protect(PROT_READ | PROT_WRITE);
  work();
  if (--depth_ == 0) protect(PROT_NONE);
}

void SimulatedMachine::record(const std::function<void()>& work) {
  recording_ = true;
  work();
  recording_ = false;
}

void SimulatedMachine::refuse_in_recording(const char* what) const {
  if (recording_) throw std::logic_error(std::string(what) + " within recorded work");
}

SimulatedQueue::~SimulatedQueue() { std::erase(machine_.order, this); }

void SimulatedQueue::put(std::function<bool()> may_begin, std::function<void()> work) {
  work_.push_back({std::move(may_begin), std::move(work)});
  if (!machine_.late) machine_.work_until([this] { return work_.empty(); });
}

void SimulatedQueue::run(std::function<void()> work) {
  put([] { return true; }, std::move(work));
}

void SimulatedQueue::copy(void* to, const void* from, std::size_t bytes) {
  run([=] { std::memcpy(to, from, bytes); });
}

void SimulatedQueue::copy_from_host(void* to, const void* from, std::size_t bytes) {
  machine_.refuse_in_recording("a copy from the host");
  if (machine_.is_pinned(from)) return copy(to, from, bytes);
  // The caller may change it once this returns.
  const auto* const first = static_cast<const std::byte*>(from);
  run([to, kept = std::vector<std::byte>(first, first + bytes)] {
    std::memcpy(to, kept.data(), kept.size());
  });
}

void SimulatedQueue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  machine_.refuse_in_recording("a copy to the host");
  copy(to, from, bytes);
}

void SimulatedQueue::fill(void* to, std::byte value, std::size_t bytes) {
  run([=] { std::memset(to, static_cast<int>(value), bytes); });
}

void SimulatedQueue::wait() {
  machine_.refuse_in_recording("a wait");
  machine_.work_until([this] { return work_.empty(); });
}

bool SimulatedQueue::work() {
  if (work_.empty() || !work_.front().may_begin()) return false;
  const std::function<void()> next = std::move(work_.front().run);
  work_.pop_front();
  machine_.access(next);
  return true;
}

std::unique_ptr<Device> make_simulated_device(SimulatedMachine& machine) {
  return std::make_unique<SimulatedDevice>(machine);
}

SimulatedGpu::SimulatedGpu(const ExecutorFactory& executors, Order order, Communicator* ranks)
    : has_sums_queue_(order != Order::at_once),
      executors_(std::make_unique<WrappedExecutors>(queue_, executors)),
      launches_(std::make_unique<WrappedLaunches>(queue_)),
      ranks_(std::make_unique<QueuedRanks>(ranks != nullptr ? *ranks : *alone_)) {
  machine_.late = order != Order::at_once;
  machine_.order =
      order == Order::sums_ahead ? std::vector{&sums_, &queue_} : std::vector{&queue_, &sums_};
  machine_.order.push_back(&copies_);
}

Compute SimulatedGpu::compute() {
  return {*device_, queue_, *executors_, *launches_, &copies_, has_sums_queue_ ? &sums_ : nullptr};
}

}  // namespace trainyard::test
