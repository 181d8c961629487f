// The kernels that accompany the libraries' work, launched on a stream: host code calls these
// functions, .cu files compile them. `type` is the storage type: f32, f16 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "exec/executor.h"
#include "exec/functor/channel_rows.h"
#include "exec/functor/weights.h"
#include "tensor/layout.h"

namespace trainyard::cudnn {

class MatmulLibrary;

/// Packs f32 weights of the flat block (PackWeights).
void pack_weights(cudaStream_t stream, DType type, const WeightShape& shape, const float* from,
                  void* to);
/// Writes packed gradients to the flat block (UnpackWeights).
void unpack_weights(cudaStream_t stream, DType type, const WeightShape& shape, const void* from,
                    float* to);
/// Rounds a bias [filters] to the storage type.
void round_bias(cudaStream_t stream, DType type, std::int64_t filters, const float* from, void* to);
/// y += bias, in place (AddBiasRows).
void add_bias(cudaStream_t stream, DType type, const ChannelRows& rows, void* y, const float* bias);
/// gradient = sums of dy over the rows (BiasGradientRows). `partials` holds
/// bias_partial_bytes(rows).
void bias_gradient(cudaStream_t stream, DType type, const ChannelRows& rows, const void* dy,
                   float* gradient, void* partials);
[[nodiscard]] std::size_t bias_partial_bytes(const ChannelRows& rows);
/// Writes zeros to the padding channels.
void zero_padding_channels(cudaStream_t stream, const TensorView& tensor);
/// The executor of batch norm or of a pooling op (channels.h); null for other ops.
[[nodiscard]] std::unique_ptr<Executor> make_channels(cudaStream_t stream,
                                                      const StepDescription& step);
/// The executor of a recurrent layer. It keeps the library, because a plan may outlive its factory.
[[nodiscard]] std::unique_ptr<Executor> make_recurrent(cudaStream_t stream,
                                                       std::shared_ptr<const MatmulLibrary> library,
                                                       const StepDescription& step);

}  // namespace trainyard::cudnn
