#include "compute/copy/weight_copies.h"
#include "compute/devices/cuda/kernels.h"
#include "compute/elementwise/bias.h"
#include "compute/elementwise/map.h"
#include "device/cuda/cuda_device.h"
#include "launcher/cuda_launch.cuh"

namespace trainyard::cudnn {
namespace {

class StreamPacking final : public WeightPacking {
 public:
  StreamPacking(Device& device, Queue& queue)
      : device_(device), queue_(queue), launcher_(cuda::stream_of(queue)) {}
  [[nodiscard]] ExecutorPtr make_pack(const std::vector<WeightShape>& shapes,
                                      DType storage) const override {
    return make<PackWeights, true>(shapes, storage);
  }
  [[nodiscard]] ExecutorPtr make_unpack(const std::vector<WeightShape>& shapes,
                                        DType storage) const override {
    return make<UnpackWeights, false>(shapes, storage);
  }

 private:
  template <template <class> class Functor, bool kPacks>
  [[nodiscard]] ExecutorPtr make(const std::vector<WeightShape>& shapes, DType storage) const {
    return GpuFloats{}(storage, [&]<class T>(std::type_identity<T>) -> ExecutorPtr {
      return std::make_unique<WeightCopies<Functor<T>, kPacks, CudaLauncher>>(shapes, launcher_,
                                                                              device_, queue_);
    });
  }

  Device& device_;
  Queue& queue_;
  CudaLauncher launcher_;
};

struct NoteDifference {
  const std::uint16_t* a;
  const std::uint16_t* b;
  std::uint32_t* differ;
  TY_HD void operator()(std::int64_t i) const {
    if (a[i] != b[i]) *differ = 1;
  }
};

}  // namespace

std::unique_ptr<WeightPacking> make_weight_packing(Device& device, Queue& queue) {
  return std::make_unique<StreamPacking>(device, queue);
}

void add_bias(cudaStream_t stream, DType type, const ChannelRows& rows, void* y, const float* bias,
              bool relu) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    add_bias_rows(CudaLauncher(stream), rows, static_cast<T*>(y), bias, relu);
  });
}

void bias_gradient(cudaStream_t stream, DType type, const ChannelRows& rows, const void* dy,
                   float* gradient, void* partials, std::uint32_t* finished) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    sum_bias_gradient<T>(CudaLauncher(stream), rows, static_cast<const T*>(dy), gradient,
                         static_cast<double*>(partials), finished);
  });
}

std::size_t bias_partial_bytes(const ChannelRows& rows) {
  return static_cast<std::size_t>(bias_partials(rows)) * sizeof(double);
}

ExecutorPtr make_relu_bias(cudaStream_t stream, const StepDescription& step) {
  return make_relu_bias_on(CudaLauncher(stream), step);
}

void zero_padding_channels(cudaStream_t stream, const TensorView& tensor) {
  GpuFloats{}(tensor.type, [&]<class T>(std::type_identity<T>) {
    zero_padding<T>(CudaLauncher(stream), tensor);
  });
}

void note_difference(cudaStream_t stream, const void* a, const void* b, std::size_t bytes,
                     std::uint32_t* differ) {
  CudaLauncher(stream).each(static_cast<std::int64_t>(bytes / sizeof(std::uint16_t)),
                            NoteDifference{static_cast<const std::uint16_t*>(a),
                                           static_cast<const std::uint16_t*>(b), differ});
}

}  // namespace trainyard::cudnn
