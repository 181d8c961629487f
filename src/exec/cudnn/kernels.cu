#include "exec/cudnn/kernels.h"
#include "exec/functor/bias.h"
#include "kernels/columns.h"
#include "kernels/cuda_launch.cuh"
#include "ops/elementwise.h"

namespace trainyard::cudnn {

void pack_weights(cudaStream_t stream, DType type, const WeightShape& shape, const float* from,
                  void* to) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    CudaLauncher(stream).each(shape.packed_elements(),
                              PackWeights<T>{shape, from, static_cast<T*>(to)});
  });
}

void unpack_weights(cudaStream_t stream, DType type, const WeightShape& shape, const void* from,
                    float* to) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    CudaLauncher(stream).each(shape.plain_elements(),
                              UnpackWeights<T>{shape, static_cast<const T*>(from), to});
  });
}

void round_bias(cudaStream_t stream, DType type, std::int64_t filters, const float* from,
                void* to) {
  // A bias is packed as the weight of that many filters with one channel each.
  pack_weights(stream, type, {.filters = filters, .padded_filters = filters}, from, to);
}

void add_bias(cudaStream_t stream, DType type, const ChannelRows& rows, void* y,
              const float* bias) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    const CudaLauncher launcher(stream);
    T* const values = static_cast<T*>(y);
    if (rows.packs(kPack<T>)) {
      launcher.each(rows.count * ((rows.channels + kPack<T> - 1) / kPack<T>),
                    AddBiasRows<T, kPack<T>>{rows, values, bias});
    } else {
      launcher.each(rows.count * rows.channels, AddBiasRows<T, 1>{rows, values, bias});
    }
  });
}

void bias_gradient(cudaStream_t stream, DType type, const ChannelRows& rows, const void* dy,
                   float* gradient, void* partials) {
  GpuFloats{}(type, [&]<class T>(std::type_identity<T>) {
    CudaLauncher(stream).columns(rows.count, rows.channels,
                                 BiasGradientRows<T>{rows, static_cast<const T*>(dy), gradient},
                                 static_cast<double*>(partials));
  });
}

std::size_t bias_partial_bytes(const ChannelRows& rows) {
  return static_cast<std::size_t>(column_partials(rows.count, rows.channels)) * sizeof(double);
}

void zero_padding_channels(cudaStream_t stream, const TensorView& tensor) {
  GpuFloats{}(tensor.type, [&]<class T>(std::type_identity<T>) {
    zero_padding<T>(CudaLauncher(stream), tensor);
  });
}

}  // namespace trainyard::cudnn
