// Convolutions as operation graphs of cuDNN: first as data, for tests and the engine cache, then as
// a finalized descriptor. Neither needs a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "compute/conv/conv_step.h"
#include "compute/conv/cudnn/library.h"

namespace trainyard::cudnn {

/// The tensors of a convolution by role; the value is the id in the graph. In the backward graphs
/// input, weight and output mean their gradients.
enum class Role : std::int64_t { input = 1, weight, output, bias, product };

/// A tensor of a graph, n, c, h, w (weights: o, i, h, w) whatever the strides, in elements.
struct GraphTensor {
  DType type = DType::f32;
  std::array<std::int64_t, 4> extents{};
  std::array<std::int64_t, 4> strides{};

  /// From the first element to the last.
  [[nodiscard]] std::size_t bytes() const;
};

/// One convolution and what it computes. Products are summed in f32.
struct ConvGraph {
  using Computes = ConvProduct;

  Computes computes = Computes::output;
  GraphTensor input, weight, output;
  std::array<std::int64_t, 2> before{}, after{};  // padding, h and w
  std::array<std::int64_t, 2> stride{1, 1}, dilation{1, 1};
  bool adds_bias = false;    // output: a bias [filters] of the output's type is added in the graph
  bool adds_result = false;  // the result is added to what its tensor holds, and the sum rounded

  /// What the graph computes.
  [[nodiscard]] const GraphTensor& result() const {
    return computes == Computes::output           ? output
           : computes == Computes::input_gradient ? input
                                                  : weight;
  }
};

/// Tensors are declared to be aligned to this many bytes.
inline constexpr std::int64_t kAlignment = 16;

/// The graph of a convolution's step, without the bias. Maps have the step's layouts; the weight is
/// in the step's storage type, o, h, w, i (as tensor cores read it). Without groups all padding
/// channels take part: they are zero, and stay so because their weights are.
[[nodiscard]] ConvGraph conv_graph(const StepDescription& step);

/// The same with the bias added in the graph (only for `output`).
[[nodiscard]] ConvGraph with_bias(ConvGraph graph);

/// The same, overwriting its result.
[[nodiscard]] ConvGraph without_adding(ConvGraph graph);

/// "conv output with bias: input f16 [64, 8, 32, 32] ...": everything that determines which engines
/// are suitable.
[[nodiscard]] std::string text_of(const ConvGraph& graph);

/// The finalized operation graph. Throws Error{device} with cuDNN's reason if the shapes are
/// inconsistent.
[[nodiscard]] DescriptorPtr make_operation_graph(const Library& library, const ConvGraph& graph);

}  // namespace trainyard::cudnn
