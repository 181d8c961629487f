#include "guarded_compute.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>

namespace trainyard::test {
namespace {

/// The guarded memory of a device.
class Guard {
 public:
  void* add(std::size_t bytes) {
    void* data = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    blocks_[data] = bytes;
    return data;
  }
  void remove(void* data) {
    munmap(data, blocks_.at(data));
    blocks_.erase(data);
  }
  /// Calls `work` while the memory is open.
  template <class F>
  void open(const F& work) {
    protect(PROT_READ | PROT_WRITE);
    work();
    protect(PROT_NONE);
  }

 private:
  void protect(int access) {
    for (const auto& [data, bytes] : blocks_) {
      if (mprotect(data, bytes, access) != 0) throw std::runtime_error("mprotect failed");
    }
  }
  std::map<void*, std::size_t> blocks_;
};

class GuardedBuffer final : public DeviceBuffer {
 public:
  GuardedBuffer(Guard& guard, std::size_t bytes)
      : guard_(guard), data_(guard.add(bytes)), bytes_(bytes) {}
  ~GuardedBuffer() override { guard_.remove(data_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  Guard& guard_;
  void* data_;
  std::size_t bytes_;
};

class GuardedQueue final : public Queue {
 public:
  explicit GuardedQueue(Guard& guard) : guard_(guard) {}
  void copy(void* to, const void* from, std::size_t bytes) override {
    guard_.open([&] { std::memcpy(to, from, bytes); });
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    guard_.open([&] { std::memset(to, std::to_integer<int>(value), bytes); });
  }
  void wait() override {}

 private:
  Guard& guard_;
};

class GuardedDevice final : public Device {
 public:
  explicit GuardedDevice(Guard& guard) : guard_(guard) {}
  [[nodiscard]] std::string name() const override { return "guarded"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return std::make_unique<GuardedBuffer>(guard_, bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<GuardedQueue>(guard_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    return cpu_->record(queue, std::move(work));
  }
  [[nodiscard]] std::size_t free_bytes() const override { return cpu_->free_bytes(); }

 private:
  Guard& guard_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

class GuardedExecutor final : public Executor {
 public:
  GuardedExecutor(Guard& guard, std::unique_ptr<Executor> executor)
      : guard_(guard), executor_(std::move(executor)) {}
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }
  void bind(const StepTensors& tensors) override { executor_->bind(tensors); }
  void run() override {
    guard_.open([&] { executor_->run(); });
  }

 private:
  Guard& guard_;
  std::unique_ptr<Executor> executor_;
};

class GuardedExecutors final : public ExecutorFactory {
 public:
  GuardedExecutors(Guard& guard, const ExecutorFactory& executors)
      : guard_(guard), executors_(executors) {}
  [[nodiscard]] std::unique_ptr<Executor> make(const StepDescription& step) const override {
    return guarded(executors_.make(step));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_reorder(const Layout& from, DType from_type,
                                                       const Layout& to, DType to_type,
                                                       int threads) const override {
    return guarded(executors_.make_reorder(from, from_type, to, to_type, threads));
  }
  [[nodiscard]] std::unique_ptr<Executor> make_accumulate(const Layout& layout, DType type,
                                                          int threads) const override {
    return guarded(executors_.make_accumulate(layout, type, threads));
  }
  [[nodiscard]] std::string libraries() const override { return executors_.libraries(); }

 private:
  [[nodiscard]] std::unique_ptr<Executor> guarded(std::unique_ptr<Executor> executor) const {
    return std::make_unique<GuardedExecutor>(guard_, std::move(executor));
  }
  Guard& guard_;
  const ExecutorFactory& executors_;
};

class GuardedLaunches final : public UpdateLaunches {
 public:
  explicit GuardedLaunches(Guard& guard) : guard_(guard) {}
  void begin(const BeginUpdate& begin) const override {
    guard_.open([&] { cpu_->begin(begin); });
  }
  void add_results(const SampleResults& results, double* total) const override {
    guard_.open([&] { cpu_->add_results(results, total); });
  }
  void accumulate(const UpdateBlocks& blocks, const void* gradients, std::int64_t elements,
                  bool first) const override {
    guard_.open([&] { cpu_->accumulate(blocks, gradients, elements, first); });
  }
  void narrow(void* to, DType type, const float* from, std::int64_t elements) const override {
    guard_.open([&] { cpu_->narrow(to, type, from, elements); });
  }
  void widen(float* to, const void* from, DType type, std::int64_t elements) const override {
    guard_.open([&] { cpu_->widen(to, from, type, elements); });
  }
  void unscale(const UpdateBlocks& blocks) const override {
    guard_.open([&] { cpu_->unscale(blocks); });
  }
  void add_l2(const UpdateBlocks& blocks) const override {
    guard_.open([&] { cpu_->add_l2(blocks); });
  }
  void gradient_norm(const UpdateBlocks& blocks, std::span<double> scratch,
                     double* norm) const override {
    guard_.open([&] { cpu_->gradient_norm(blocks, scratch, norm); });
  }
  void regularisation_loss(const UpdateBlocks& blocks, std::span<double> scratch,
                           double* sum) const override {
    guard_.open([&] { cpu_->regularisation_loss(blocks, scratch, sum); });
  }
  void note_nonfinite(StepState* state, const double* value) const override {
    guard_.open([&] { cpu_->note_nonfinite(state, value); });
  }
  void clip_gradients(const UpdateBlocks& blocks, const double* norm,
                      double maximum) const override {
    guard_.open([&] { cpu_->clip_gradients(blocks, norm, maximum); });
  }
  void update_running(const StatisticBlocks& statistics) const override {
    guard_.open([&] { cpu_->update_running(statistics); });
  }
  void update(const UpdateBlocks& blocks, const UpdateRule& rule,
              double time_decay) const override {
    guard_.open([&] { cpu_->update(blocks, rule, time_decay); });
  }
  void end(const EndUpdate& end) const override {
    guard_.open([&] { cpu_->end(end); });
  }

 private:
  Guard& guard_;
  std::unique_ptr<UpdateLaunches> cpu_ = make_cpu_update_launches(1);
};

}  // namespace

struct GuardedCompute::Parts {
  explicit Parts(const ExecutorFactory& plain) : executors(guard, plain) {}
  Guard guard;
  GuardedDevice device{guard};
  GuardedQueue queue{guard}, copies{guard};
  GuardedExecutors executors;
  GuardedLaunches launches{guard};
};

GuardedCompute::GuardedCompute(const ExecutorFactory& executors)
    : parts_(std::make_unique<Parts>(executors)) {}
GuardedCompute::~GuardedCompute() = default;

Compute GuardedCompute::compute() const {
  return {parts_->device, parts_->queue, parts_->executors, parts_->launches, &parts_->copies};
}

}  // namespace trainyard::test
