// A device: memory, queues and events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

/// Memory of a device, or of the host for its copies; freed with the object.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  [[nodiscard]] virtual void* data() const = 0;
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// An order of work on a device. The CPU's queues run work at once.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies between device memory of this device.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  /// With host memory of Device::allocate_host() these two return at once, and it must stay until
  /// the copy is done; with other memory they may wait until it can be reused.
  virtual void copy_from_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void copy_to_host(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, std::byte value, std::size_t bytes) = 0;
  /// Returns when all work of the queue is done.
  virtual void wait() = 0;
};

/// A point in a queue's order. One that was never recorded is done.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Queue& queue) = 0;
  /// What is put on `queue` from now on waits for it.
  virtual void wait_on(Queue& queue) = 0;
  /// The host waits for it.
  virtual void wait() = 0;
  [[nodiscard]] virtual bool done() const = 0;
};

/// Work that is put on a queue again and again.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
  /// Kernels, copies and fills of a replay; 0 where work runs at once.
  [[nodiscard]] virtual std::size_t nodes() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "reference", "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Allocates, aligned to 256 bytes (the CPU: 2 MiB pages where large). Throws Error{memory}.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) = 0;
  /// Host memory that copies of this device read and write directly (pinned), so that they go on
  /// beside other work. Throws Error{memory}.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) = 0;
  [[nodiscard]] virtual std::unique_ptr<Queue> make_queue() = 0;
  [[nodiscard]] virtual std::unique_ptr<Event> make_event() = 0;
  /// Records what `work` puts on `queue`, without running it where the device can (a captured
  /// graph). Addresses, sizes and scalars are those of the recording for ever. `work` may be called
  /// now or by each replay: it must put on the same each time, and what it refers to, `queue` too,
  /// outlives the recording. Throws what `work` throws, and Error{device} for work that cannot be
  /// recorded.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(Queue& queue,
                                                          std::function<void()> work) = 0;
  /// Bytes that can be allocated now; 0 if that is not known.
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;
  /// What bounds free_bytes(), as a message has it.
  [[nodiscard]] virtual std::string memory_bound() const { return "its memory"; }
  /// Bytes in use, by all programs together; empty where nothing counts that.
  [[nodiscard]] virtual std::optional<std::size_t> used_bytes() const { return std::nullopt; }
  /// Share of the last moments (a GPU: 1/6 to 1 second) in which it worked, in percent; empty where
  /// nothing counts that.
  [[nodiscard]] virtual std::optional<int> busy_percent() const { return std::nullopt; }
};

[[nodiscard]] std::unique_ptr<Device> make_cpu_device();

}  // namespace trainyard
