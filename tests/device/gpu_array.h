// Arrays of a test in a GPU's memory.
#pragma once

#include <memory>
#include <vector>

#include "device/cuda/cuda_device.h"

namespace trainyard::test {

/// A GPU with one queue.
struct Gpu {
  std::unique_ptr<Device> device = cuda::make_cuda_device(0);
  std::unique_ptr<Queue> queue = device->make_queue();
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(*queue); }
};

/// A copy of a list in the GPU's memory.
template <class T>
class GpuArray {
 public:
  GpuArray(Gpu& gpu, const std::vector<T>& values)
      : gpu_(gpu), size_(values.size()), memory_(gpu.device->allocate(size_ * sizeof(T))) {
    gpu.queue->copy_from_host(memory_->data(), values.data(), size_ * sizeof(T));
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_->data()); }
  /// What it holds when all work of the queue is done.
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(size_);
    gpu_.queue->copy_to_host(values.data(), memory_->data(), size_ * sizeof(T));
    gpu_.queue->wait();
    return values;
  }

 private:
  Gpu& gpu_;
  std::size_t size_;
  std::unique_ptr<DeviceBuffer> memory_;
};

}  // namespace trainyard::test
