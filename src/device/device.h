// A device: memory, queues and events.
//
// The folder device holds memory, queues, events and recordings of the CPU, and in cuda/ those of
// an NVIDIA GPU with the survey of GPUs. It knows no op and no rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trainyard {

/// Memory of a device, or host memory for its copies; freed with the object.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  [[nodiscard]] virtual void* data() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Ordered work on a device. The CPU's queues run work immediately.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies within the memory of this device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// With host memory from Device::allocate_host() these two return at once, and the memory must
  /// remain until the copy is done; with other memory they may wait until it can be reused.
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;
  /// Returns when all work in the queue is done.
  virtual void wait() = 0;
};

/// A point in a queue's order. An event that was never recorded is done.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Queue& queue) = 0;
  /// Work enqueued on `queue` from now on waits for it.
  virtual void wait_on(Queue& queue) = 0;
  /// Blocks the host until it is reached.
  virtual void wait() = 0;
  [[nodiscard]] virtual bool done() const = 0;
};

/// Work that is enqueued again and again.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
  /// Kernels, copies and fills of a replay; 0 if work runs immediately.
  [[nodiscard]] virtual std::size_t nodes() const = 0;
};

/// Nodes of a recording, in the order in which they were enqueued.
struct NodeRange {
  std::size_t first = 0, count = 0;
  bool operator==(const NodeRange&) const = default;
};

class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "reference", "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Allocates memory aligned to 256 bytes (the CPU: 2 MiB pages if large). Throws Error{memory}.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) = 0;
  /// Host memory that this device's copies access directly (pinned), so that they overlap with
  /// other work. Throws Error{memory}.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
  /// A queue whose work begins before other queues' work that is ready too, where a device can
  /// order them; recordings keep that.
  [[nodiscard]] virtual std::unique_ptr<Queue> make_high_priority_queue() { return make_queue(); }
  /// One whose work begins after that of other queues.
  [[nodiscard]] virtual std::unique_ptr<Queue> make_low_priority_queue() { return make_queue(); }
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// Records what `work` enqueues on `queue`, without running it if the device can (a captured
  /// graph). Addresses, sizes and scalars are fixed at recording. `work` may be called now or by
  /// each replay: it must enqueue the same work each time, and everything it refers to, `queue`
  /// included, must outlive the recording. Throws what `work` throws, and Error{device} for work
  /// that cannot be recorded.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(Queue& queue,
                                                          std::function<void()> work) = 0;
  /// Records `copies` runs of `work` one after the other, of each of which a device that records
  /// keeps only the nodes in `range`: what they take, without what is before and behind them. The
  /// work is of one queue, and the same each time.
  [[nodiscard]] virtual std::unique_ptr<Recording> record_copies(Queue& queue,
                                                                 const std::function<void()>& work,
                                                                 int copies,
                                                                 const NodeRange& /*range*/) {
    return record(queue, [work, copies] {
      for (int copy = 0; copy < copies; ++copy) work();
    });
  }
  /// Bytes that can be allocated now; 0 if unknown.
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;
  /// What limits free_bytes(), for messages.
  [[nodiscard]] virtual std::string memory_bound() const { return "its memory"; }
  /// Bytes in use by all programs together; empty if unknown.
  [[nodiscard]] virtual std::optional<std::size_t> used_bytes() const { return std::nullopt; }
  /// Utilization over the recent past (a GPU: 1/6 to 1 second), in percent; empty if unknown.
  [[nodiscard]] virtual std::optional<int> busy_percent() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<Device> make_cpu_device();

/// Replicas that compute the same steps on batches of the same size. Every replica calls sum() in
/// the same order with the same counts.
class StatisticsSum {
 public:
  virtual ~StatisticsSum() = default;
  [[nodiscard]] virtual int replicas() const = 0;
  /// Enqueues: sums `count` values in device memory over all replicas in place, bit-identical on
  /// every replica. In the order of the queue that the device's executors run on. Throws
  /// Error{device} if a replica is lost.
  virtual void sum(double* values, std::int64_t count) = 0;
};

/// Enqueues the same work each time: directly the first time, when libraries load what they need,
/// and as a recording from then on. See Device::record for the constraints on `work`.
class RepeatedWork {
 public:
  RepeatedWork(Device& device, Queue& queue, std::function<void()> work)
      : device_(device), queue_(queue), work_(std::move(work)) {}

  /// Work that is the same but for addresses has a recording for each variant, made when it is
  /// first needed.
  void run(std::size_t variant = 0) {
    if (!begun_) {
      begun_ = true;
      return work_();
    }
    if (variant >= recordings_.size()) recordings_.resize(variant + 1);
    if (recordings_[variant] == nullptr) recordings_[variant] = device_.record(queue_, work_);
    recordings_[variant]->replay();
  }
  /// Recording::nodes(), of every variant alike; 0 before the second run.
  [[nodiscard]] std::size_t nodes() const {
    for (const auto& recording : recordings_) {
      if (recording != nullptr) return recording->nodes();
    }
    return 0;
  }

 private:
  Device& device_;
  Queue& queue_;
  std::function<void()> work_;
  bool begun_ = false;
  std::vector<std::unique_ptr<Recording>> recordings_;
};

/// A fixed number of elements, copied as bytes. Not initialized.
template <class T>
class DeviceArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  DeviceArray(Device& device, std::size_t size)
      : size_(size), buffer_(device.allocate(std::max<std::size_t>(size, 1) * sizeof(T))) {}
  DeviceArray(Device& device, Queue& queue, std::span<const T> values)
      : DeviceArray(device, values.size()) {
    write(queue, values);
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(buffer_->data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }

  /// Copies the first values.size() elements; `values` may change once this returns.
  void write(Queue& queue, std::span<const T> values) {
    if (!values.empty()) queue.copy_from_host(data(), values.data(), values.size_bytes());
  }
  /// All elements, once all earlier work on `queue` is done.
  [[nodiscard]] std::vector<T> read(Queue& queue) const {
    std::vector<T> values(size_);
    read(queue, values);
    return values;
  }
  /// The same, into values.size() elements of the caller.
  void read(Queue& queue, std::span<T> values) const {
    if (!values.empty()) queue.copy_to_host(values.data(), data(), values.size_bytes());
    queue.wait();
  }

 private:
  std::size_t size_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

}  // namespace trainyard
