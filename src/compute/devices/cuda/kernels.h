// The kernels that accompany the libraries' work, launched on a stream: host code calls these
// functions, .cu files compile them. `type` is the storage type: f32, f16 or bf16.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "compute/channel_rows.h"
#include "compute/conv/conv_step.h"
#include "compute/executor.h"
#include "compute/matmul/matrix_products.h"
#include "compute/weight_packing.h"
#include "device/device.h"
#include "tensor/layout.h"

namespace trainyard::cudnn {

/// Copies of packed weights on a queue of `device`, which outlive them.
[[nodiscard]] std::unique_ptr<WeightPacking> make_weight_packing(Device& device, Queue& queue);
/// y += bias, in place, and with `relu` cut at 0 (add_bias_rows).
void add_bias(cudaStream_t stream, DType type, const ChannelRows& rows, void* y, const float* bias,
              bool relu);
/// gradient = sums of dy over the rows (BiasGradientRows). `partials` holds
/// bias_partial_bytes(rows); `finished`: BatchContext's.
void bias_gradient(cudaStream_t stream, DType type, const ChannelRows& rows, const void* dy,
                   float* gradient, void* partials, std::uint32_t* finished);
[[nodiscard]] std::size_t bias_partial_bytes(const ChannelRows& rows);
/// The executor of a step with StepForm::sums_layer_bias().
[[nodiscard]] ExecutorPtr make_relu_bias(cudaStream_t stream, const StepDescription& step);
/// Writes zeros to the padding channels.
void zero_padding_channels(cudaStream_t stream, const TensorView& tensor);
/// *differ = 1 if `a` and `b` differ in one of `bytes` bytes, a multiple of 2.
void note_difference(cudaStream_t stream, const void* a, const void* b, std::size_t bytes,
                     std::uint32_t* differ);
/// A convolution's step for which is_narrow() holds.
void narrow_conv(cudaStream_t stream, DType type, const ConvStep& step, const void* from,
                 const void* weight, void* to);
/// The executor of batch norm or of a pooling op (channels.h); null for other ops.
[[nodiscard]] ExecutorPtr make_channels(cudaStream_t stream, const StepDescription& step);
/// Makes a product of factors of the storage type, in f32, within so many bytes of workspace.
using MakeProduct =
    std::function<std::unique_ptr<MatrixProduct>(const ProductShape& shape, std::size_t cap)>;
/// The executor of a recurrent layer on the stream that its products are enqueued on.
[[nodiscard]] ExecutorPtr make_recurrent_on(cudaStream_t stream, const MakeProduct& make_product,
                                            const StepDescription& step);

}  // namespace trainyard::cudnn
