#include "compute/conv/cudnn/conv_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace trainyard::cudnn {
namespace {

using Computes = ConvGraph::Computes;

/// A map in the plan's layout, with or without its padding channels.
GraphTensor map_tensor(const Layout& layout, DType type, bool with_padding) {
  TY_CHECK(layout.block == 1, "cuDNN reads no blocked channels");
  return {.type = type,
          .extents = {layout.extent[0], with_padding ? layout.padded_channels : layout.extent[1],
                      layout.extent[2], layout.extent[3]},
          .strides = {layout.stride[0], layout.stride[1], layout.stride[2], layout.stride[3]}};
}

/// o, h, w, i without gaps.
GraphTensor weight_tensor(DType type, std::array<std::int64_t, 4> extents) {
  const auto [filters, channels, height, width] = extents;
  return {.type = type,
          .extents = extents,
          .strides = {height * width * channels, 1, width * channels, channels}};
}

cudnnDataType_t data_type(DType type) {
  switch (type) {
    case DType::f32:
      return CUDNN_DATA_FLOAT;
    case DType::f16:
      return CUDNN_DATA_HALF;
    case DType::bf16:
      return CUDNN_DATA_BFLOAT16;
    default:
      TY_CHECK(false, "convolutions on GPUs store f32, f16 or bf16");
      return CUDNN_DATA_FLOAT;
  }
}

std::string text_of(const GraphTensor& tensor) {
  return fmt::format("{} [{}] strides [{}]", name_of(tensor.type), fmt::join(tensor.extents, ", "),
                     fmt::join(tensor.strides, ", "));
}

std::string_view name_of(Computes computes) {
  switch (computes) {
    case Computes::output:
      return "output";
    case Computes::input_gradient:
      return "input gradient";
    default:
      return "weight gradient";
  }
}

/// What every part of a graph is made with.
struct Maker {
  const Library& library;
  const ConvGraph& graph;
  std::string what;

  [[nodiscard]] std::shared_ptr<Descriptor> make(cudnnBackendDescriptorType_t type) const {
    return std::make_shared<Descriptor>(library, type, what);
  }
};

DescriptorPtr make_tensor(const Maker& maker, const GraphTensor& tensor, Role role,
                          bool is_virtual = false) {
  auto descriptor = maker.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  descriptor->set(CUDNN_ATTR_TENSOR_UNIQUE_ID, static_cast<std::int64_t>(role));
  descriptor->set(CUDNN_ATTR_TENSOR_DATA_TYPE, data_type(tensor.type));
  descriptor->set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.extents);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  if (is_virtual) descriptor->set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
  descriptor->finalize();
  return descriptor;
}

DescriptorPtr make_convolution(const Maker& maker) {
  const ConvGraph& graph = maker.graph;
  auto descriptor = maker.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  descriptor->set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2});
  descriptor->set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  descriptor->set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, graph.before);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, graph.after);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, graph.dilation);
  descriptor->set_list<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, graph.stride);
  descriptor->finalize();
  return descriptor;
}

/// Names of the attributes of one of the three convolution operations.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, input, weight, output, alpha, beta;
};

OperationNames names_of(Computes computes) {
  switch (computes) {
    case Computes::output:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case Computes::input_gradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    default:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

/// `output` is where the operation writes or reads its output: the product if a bias follows.
DescriptorPtr make_operation(const Maker& maker, const DescriptorPtr& output) {
  const OperationNames names = names_of(maker.graph.computes);
  auto operation = maker.make(names.type);
  operation->set(names.convolution, make_convolution(maker));
  operation->set(names.input, make_tensor(maker, maker.graph.input, Role::input));
  operation->set(names.weight, make_tensor(maker, maker.graph.weight, Role::weight));
  operation->set(names.output, output);
  operation->set(names.alpha, 1.0f);
  operation->set(names.beta, maker.graph.adds_result ? 1.0f : 0.0f);
  operation->finalize();
  return operation;
}

DescriptorPtr make_bias(const Maker& maker, const DescriptorPtr& product) {
  auto sum = maker.make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  sum->set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD);
  sum->set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  sum->finalize();
  const std::int64_t filters = maker.graph.output.extents[1];
  // No engine supports an f32 bias with an output of 16 bits.
  const GraphTensor bias{.type = maker.graph.output.type,
                         .extents = {1, filters, 1, 1},
                         .strides = {filters, 1, filters, filters}};
  auto operation = maker.make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation->set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, DescriptorPtr(sum));
  operation->set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, product);
  operation->set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, make_tensor(maker, bias, Role::bias));
  operation->set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                 make_tensor(maker, maker.graph.output, Role::output));
  operation->finalize();
  return operation;
}

}  // namespace

ConvGraph conv_graph(const StepDescription& step) {
  const ConvStep made = conv_step(step);
  const ConvAttributes& conv = made.attributes;
  const bool with_padding = conv.groups == 1;
  ConvGraph graph{.computes = made.computes,
                  .input = map_tensor(made.maps.input, step.storage, with_padding),
                  .output = map_tensor(made.maps.output, step.storage, with_padding),
                  .before = {made.margins.top, made.margins.left},
                  .after = {made.margins.bottom, made.margins.right},
                  .stride = {conv.stride.h, conv.stride.w},
                  .dilation = {conv.dilation.h, conv.dilation.w},
                  .adds_result = step.form.adds_gradient};
  graph.weight =
      weight_tensor(step.storage, {graph.output.extents[1], graph.input.extents[1] / conv.groups,
                                   conv.kernel.h, conv.kernel.w});
  return graph;
}

ConvGraph with_bias(ConvGraph graph) {
  TY_CHECK(graph.computes == Computes::output, "a bias is added to the output");
  graph.adds_bias = true;
  return graph;
}

ConvGraph without_adding(ConvGraph graph) {
  graph.adds_result = false;
  return graph;
}

std::size_t GraphTensor::bytes() const {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < 4; ++axis) last += (extents[axis] - 1) * strides[axis];
  return static_cast<std::size_t>(last + 1) * size_of(type);
}

std::string text_of(const ConvGraph& graph) {
  return fmt::format(
      "conv {}{}{}: input {}, weight {}, output {}, padding [{}] [{}], stride [{}], dilation [{}]",
      name_of(graph.computes), graph.adds_bias ? " with bias" : "",
      graph.adds_result ? " added" : "", text_of(graph.input), text_of(graph.weight),
      text_of(graph.output), fmt::join(graph.before, ", "), fmt::join(graph.after, ", "),
      fmt::join(graph.stride, ", "), fmt::join(graph.dilation, ", "));
}

DescriptorPtr make_operation_graph(const Library& library, const ConvGraph& graph) {
  const Maker maker{library, graph, text_of(graph)};
  std::vector<DescriptorPtr> operations;
  if (graph.adds_bias) {
    GraphTensor sums = graph.output;
    sums.type = DType::f32;
    const DescriptorPtr product = make_tensor(maker, sums, Role::product, true);
    operations = {make_operation(maker, product), make_bias(maker, product)};
  } else {
    operations = {make_operation(maker, make_tensor(maker, graph.output, Role::output))};
  }
  auto descriptor = maker.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  descriptor->set_list(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const DescriptorPtr>(operations));
  descriptor->finalize();
  return descriptor;
}

}  // namespace trainyard::cudnn
