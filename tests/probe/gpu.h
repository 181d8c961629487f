// The GPU that a probe measures, and the times of what it replays.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "rows.h"

namespace trainyard::probe {

/// Why this machine has no GPU to measure; "" if it has one.
[[nodiscard]] std::string no_gpu();

class Gpu {
 public:
  /// A visible GPU, which must be the current device. Throws Error{device}.
  explicit Gpu(int ordinal = 0);

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] Queue& queue() const { return *queue_; }
  [[nodiscard]] cudaStream_t stream() const;
  /// The one for work beside stream().
  [[nodiscard]] cudaStream_t beside() const;
  [[nodiscard]] const cudaDeviceProp& facts() const { return facts_; }
  /// Throws Error{device} below compute capability 9.0, which has no programmatic launches and no
  /// clusters.
  void require_hopper() const;

  /// What is enqueued on beside() from now on follows what is on stream() by now.
  void fork();
  /// What is enqueued on stream() from now on follows what is on beside() by now.
  void join();

  /// Microseconds from the begin to the end of what `work` enqueues, seven times after two that do
  /// not count.
  [[nodiscard]] Spread time(const std::function<void()>& work);
  /// The same of replays of a graph of `work`, which is enqueued once before.
  [[nodiscard]] Spread replays(const std::function<void()>& work);
  /// Microseconds of one of `count` copies in a graph; `copy(i)` enqueues number i. The time of
  /// a graph with one copy is taken off, and with it what the launch of a graph takes.
  [[nodiscard]] Spread copies(int count, const std::function<void(int)>& copy);

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_, beside_;
  std::unique_ptr<Event> forked_, joined_;
  cudaDeviceProp facts_{};
};

/// Numbers on the GPU.
template <class T>
class Memory {
 public:
  Memory(const Gpu& gpu, std::span<const T> values)
      : gpu_(gpu), count_(values.size()), buffer_(gpu.device().allocate(values.size_bytes())) {
    gpu_.queue().copy_from_host(buffer_->data(), values.data(), values.size_bytes());
    gpu_.queue().wait();
  }
  Memory(const Gpu& gpu, std::size_t count)
      : Memory(gpu, std::span<const T>(std::vector<T>(count))) {}

  [[nodiscard]] T* data() const { return static_cast<T*>(buffer_->data()); }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    gpu_.queue().copy_to_host(values.data(), buffer_->data(), count_ * sizeof(T));
    gpu_.queue().wait();
    return values;
  }

 private:
  const Gpu& gpu_;
  std::size_t count_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

}  // namespace trainyard::probe
