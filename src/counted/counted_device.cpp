#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "counted/counted_gpu.h"

namespace trainyard::counted {
namespace {

/// A range of addresses without memory: functors are given pointers into it and never run.
class Addresses final : public DeviceBuffer {
 public:
  explicit Addresses(std::size_t bytes) : bytes_(bytes) {
    data_ = mmap(nullptr, mapped(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ != MAP_FAILED) return;
    throw memory_error("out of addresses: " + memory_text(bytes) +
                       " could not be reserved for a GPU that only counts; raise the limit of this "
                       "process's address space (ulimit -v)");
  }
  ~Addresses() override { munmap(data_, mapped()); }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  [[nodiscard]] std::size_t mapped() const { return std::max<std::size_t>(bytes_, 1); }

  std::size_t bytes_;
  void* data_;
};

class CountedQueue final : public Queue {
 public:
  explicit CountedQueue(LaunchLog& log) : log_(log) {}
  void copy(void*, const void*, std::size_t bytes) override {
    log_.add_transfer("copy", 2 * bytes);
  }
  void copy_from_host(void*, const void*, std::size_t bytes) override {
    log_.add_transfer("copy", bytes);
  }
  void copy_to_host(void* to, const void*, std::size_t bytes) override {
    std::memset(to, 0, bytes);
    log_.add_transfer("copy", bytes);
  }
  void fill(void*, std::byte, std::size_t bytes) override { log_.add_transfer("fill", bytes); }
  void wait() override {}

 private:
  LaunchLog& log_;
};

class CountedRecording final : public Recording {
 public:
  explicit CountedRecording(std::size_t nodes) : nodes_(nodes) {}
  void replay() override {}
  [[nodiscard]] std::size_t nodes() const override { return nodes_; }

 private:
  std::size_t nodes_;
};

class CountedDevice final : public Device {
 public:
  CountedDevice(LaunchLog& log, LastRecording& last) : log_(log), last_(last) {}
  [[nodiscard]] std::string name() const override { return "counted"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return std::make_unique<Addresses>(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return host_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CountedQueue>(log_);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return host_->make_event();  // all work is done at once
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue&, std::function<void()> work) override {
    static_cast<void>(log_.take());
    work();
    last_ = log_.take();
    return std::make_unique<CountedRecording>(last_.size());
  }
  [[nodiscard]] std::size_t free_bytes() const override { return 0; }

 private:
  LaunchLog& log_;
  LastRecording& last_;
  std::unique_ptr<Device> host_ = make_cpu_device();
};

}  // namespace

std::unique_ptr<Device> make_counted_device(LaunchLog& log, LastRecording& last) {
  return std::make_unique<CountedDevice>(log, last);
}

}  // namespace trainyard::counted
