// Test arrays in GPU memory.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cuda_device.h"
#include "device/device.h"

namespace trainyard::test {

/// A GPU with one queue.
struct Gpu {
  std::unique_ptr<Device> device = cuda::make_cuda_device(0);
  std::unique_ptr<Queue> queue = device->make_queue();
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(*queue); }
};

/// A copy of a list in GPU memory.
template <class T>
class GpuArray {
 public:
  GpuArray(Gpu& gpu, const std::vector<T>& values)
      : queue_(*gpu.queue), array_(*gpu.device, *gpu.queue, values) {}
  [[nodiscard]] T* data() const { return array_.data(); }
  [[nodiscard]] std::size_t size() const { return array_.size(); }
  /// Its contents once all work of the queue is done.
  [[nodiscard]] std::vector<T> read() const { return array_.read(queue_); }

 private:
  Queue& queue_;
  DeviceArray<T> array_;
};

}  // namespace trainyard::test
