#include "guarded_compute.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "wrapped_compute.h"

namespace trainyard::test {
namespace guarded {

/// The guarded memory of a device.
class Guard final : public Around {
 public:
  void* add(std::size_t bytes) {
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) throw std::bad_alloc();
    std::memset(data, 0xFF, bytes);
    mprotect(data, bytes, depth_ == 0 ? PROT_NONE : PROT_READ | PROT_WRITE);
    blocks_[data] = bytes;
    return data;
  }
  void remove(void* data) {
    munmap(data, blocks_.at(data));
    blocks_.erase(data);
  }
  /// Calls `work` while the memory is accessible.
  void run(std::function<void()> work) override {
    if (depth_++ == 0) protect(PROT_READ | PROT_WRITE);
    work();
    if (--depth_ == 0) protect(PROT_NONE);
  }
  /// Calls `work` as a recording, in which nothing may wait, be allocated or be copied to the host.
  void record(const std::function<void()>& work) {
    recording_ = true;
    work();
    recording_ = false;
  }
  void refuse_in_recording(const char* what) const {
    if (recording_) throw std::logic_error(std::string(what) + " within recorded work");
  }

 private:
  void protect(int access) {
    for (const auto& [data, bytes] : blocks_) {
      if (mprotect(data, bytes, access) != 0) throw std::runtime_error("mprotect failed");
    }
  }
  std::map<void*, std::size_t> blocks_;
  int depth_ = 0;  // of nested work
  bool recording_ = false;
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
    guard_.run([&] { std::memcpy(to, from, bytes); });
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    guard_.refuse_in_recording("a copy from the host");
    copy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    guard_.refuse_in_recording("a copy to the host");
    copy(to, from, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    guard_.run([&] { std::memset(to, std::to_integer<int>(value), bytes); });
  }
  void wait() override { guard_.refuse_in_recording("a wait"); }

 private:
  Guard& guard_;
};

class GuardedDevice final : public Device {
 public:
  explicit GuardedDevice(Guard& guard) : guard_(guard) {}
  [[nodiscard]] std::string name() const override { return "guarded"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    guard_.refuse_in_recording("an allocation");
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
    return cpu_->record(queue, [this, work = std::move(work)] { guard_.record(work); });
  }
  [[nodiscard]] std::size_t free_bytes() const override { return cpu_->free_bytes(); }

 private:
  Guard& guard_;
  std::unique_ptr<Device> cpu_ = make_cpu_device();
};

}  // namespace guarded

struct GuardedCompute::Parts {
  explicit Parts(const ExecutorFactory& plain) : executors(wrap_executors(guard, plain)) {}
  guarded::Guard guard;
  guarded::GuardedDevice device{guard};
  guarded::GuardedQueue queue{guard}, copies{guard};
  std::unique_ptr<ExecutorFactory> executors;
  std::unique_ptr<UpdateLaunches> launches = wrap_launches(guard);
};

GuardedCompute::GuardedCompute(const ExecutorFactory& executors)
    : parts_(std::make_unique<Parts>(executors)) {}
GuardedCompute::~GuardedCompute() = default;

Compute GuardedCompute::compute() const {
  return {parts_->device, parts_->queue, *parts_->executors, *parts_->launches, &parts_->copies};
}

}  // namespace trainyard::test
