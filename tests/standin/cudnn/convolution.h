// A convolution as plain data: the contents of an operation graph, once it is finalized.
#pragma once

#include <cudnn_graph.h>

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace standin::cudnn {

enum class Computes { output, input_gradient, weight_gradient };

struct ConvolutionNames {
  Computes computes;
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t alpha, beta, convolution, weight, input, output;
};

inline constexpr std::array<ConvolutionNames, 3> kConvolutions{{
    {Computes::output, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
    {Computes::input_gradient, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY},
    {Computes::weight_gradient, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY},
}};

/// n, c, h, w (weights: o, i, h, w) whatever the strides, in elements.
struct Tensor {
  std::int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::int64_t alignment = 0;  // bytes
  std::array<std::int64_t, 4> extents{}, strides{};

  [[nodiscard]] std::int64_t elements() const {
    return extents[0] * extents[1] * extents[2] * extents[3];
  }
  /// Elements from the first to the last.
  [[nodiscard]] std::int64_t span() const;
};

struct Convolution {
  Computes computes = Computes::output;
  Tensor input, weight, output;  // or their gradients
  std::optional<Tensor> bias = {};
  std::array<std::int64_t, 2> before{}, after{}, stride{1, 1}, dilation{1, 1};
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnDataType_t sums = CUDNN_DATA_FLOAT;  // the type that products are summed in
  float alpha = 1, beta = 0;

  [[nodiscard]] std::int64_t groups() const { return input.extents[1] / weight.extents[1]; }
  /// Input, weight, output and, if it is added, bias.
  [[nodiscard]] std::vector<Tensor> tensors() const;
};

/// Bytes of an element; 0 for types other than f32, f16 and bf16.
[[nodiscard]] std::int64_t size_of(cudnnDataType_t type);

}  // namespace standin::cudnn
