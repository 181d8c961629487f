#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/host.h"
#include "base/offset_allocator.h"
#include "base/text.h"
#include "device/device.h"

namespace trainyard {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

class CpuBuffer final : public DeviceBuffer {
 public:
  explicit CpuBuffer(std::size_t bytes) : bytes_(bytes) {
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : kSlotAlignment;
    const std::size_t rounded = round_up(bytes, alignment);
    data_ = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (data_ == nullptr) {
      throw memory_error("out of host memory: " + memory_text(bytes) +
                         " could not be allocated; use a smaller batch");
    }
    // Huge pages are worth several percent on large arenas; without them only speed changes.
    if (alignment == kHugePage) madvise(data_, rounded, MADV_HUGEPAGE);
  }
  ~CpuBuffer() override { std::free(data_); }
  CpuBuffer(const CpuBuffer&) = delete;
  CpuBuffer& operator=(const CpuBuffer&) = delete;

  [[nodiscard]] void* data() const override { return data_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

class CpuQueue final : public Queue {
 public:
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_from_host(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void fill(void* to, std::byte value, std::size_t bytes) override {
    std::memset(to, std::to_integer<int>(value), bytes);
  }
  void wait() override {}
};

class CpuEvent final : public Event {
 public:
  void record(Queue&) override {}
  void wait_on(Queue&) override {}
  void wait() override {}
  [[nodiscard]] bool done() const override { return true; }
};

/// A queue that runs work immediately has nothing to record: each replay calls the work.
class CpuRecording final : public Recording {
 public:
  explicit CpuRecording(std::function<void()> work) : work_(std::move(work)) {}
  void replay() override { work_(); }
  [[nodiscard]] std::size_t nodes() const override { return 0; }

 private:
  std::function<void()> work_;
};

class CpuDevice final : public Device {
 public:
  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return std::make_unique<CpuBuffer>(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CpuQueue>();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<CpuEvent>();
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue&, std::function<void()> work) override {
    return std::make_unique<CpuRecording>(std::move(work));
  }
  [[nodiscard]] std::size_t free_bytes() const override { return free_host_memory().bytes; }
  [[nodiscard]] std::string memory_bound() const override { return free_host_memory().bound; }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace trainyard
