// Tensors, convolutions, operations and graphs.
#include <algorithm>

#include "status.h"

namespace standin::cudnn {
namespace {

using Integers = std::vector<std::int64_t>;

bool is_below(const Integers& list, std::int64_t least) {
  return std::ranges::any_of(list, [least](std::int64_t value) { return value < least; });
}

cudnnDataType_t type_of(const Descriptor& tensor) {
  return tensor.one(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_FLOAT);
}

/// Extents of a tensor; none for a missing tensor.
Integers extents_of(const DescriptorPtr& tensor) {
  return tensor ? tensor->list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS) : Integers{};
}

/// `needed` numbers; zeros for an optional list that is missing.
Integers list_of(const Descriptor& convolution, cudnnBackendAttributeName_t name,
                 std::size_t needed) {
  return convolution.has(name) ? convolution.list<std::int64_t>(name) : Integers(needed, 0);
}

/// One axis: the output has as many pixels as windows fit into the padded input.
struct Axis {
  std::int64_t input, window, output, before, after, stride, dilation;
  [[nodiscard]] bool is_valid() const {
    const std::int64_t room = input + before + after - ((window - 1) * dilation + 1);
    return room >= 0 && room / stride + 1 == output;
  }
};

cudnnStatus_t check_axes(const Descriptor& convolution, const Integers& input,
                         const Integers& weight, const Integers& output) {
  const std::size_t axes = input.size() - 2;
  const auto before = list_of(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, axes);
  const auto after = list_of(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, axes);
  const auto stride = list_of(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, axes);
  const auto dilation = list_of(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, axes);
  for (std::size_t i = 0; i < axes; ++i) {
    const Axis axis{input[i + 2], weight[i + 2], output[i + 2], before[i],
                    after[i],     stride[i],     dilation[i]};
    if (!axis.is_valid()) return bad_parameter("is_valid_spatial_dim(xSpatialDimA[dim], ...)");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t check_channels(const Integers& input, const Integers& weight,
                             const Integers& output) {
  if (weight[1] == 0 || input[1] == 0 || input[1] % weight[1] != 0) {
    return bad_parameter("(0 == wDimA[1]) || (0 == xDimA[1]) || (0 != xDimA[1] % wDimA[1])");
  }
  if (weight[0] % (input[1] / weight[1]) != 0) return bad_parameter("0 != wDimA[0] % g");
  if (output[1] != weight[0]) {
    return bad_parameter("yDesc.getVectCount() * yDimA[CK_DIM] != wDimA[WK_DIM]");
  }
  return output[0] == input[0] ? CUDNN_STATUS_SUCCESS
                               : bad_parameter("yDimA[N_DIM] != xDimA[N_DIM]");
}

const ConvolutionNames* names_of(cudnnBackendDescriptorType_t type) {
  const auto found = std::ranges::find(kConvolutions, type, &ConvolutionNames::type);
  return found == kConvolutions.end() ? nullptr : found;
}

/// What an operation writes and reads.
struct Edges {
  DescriptorPtr written;
  std::vector<DescriptorPtr> read;
};

Edges edges_of(const Descriptor& operation) {
  const ConvolutionNames* const names = names_of(operation.type);
  if (names == nullptr) {
    return {operation.child(CUDNN_ATTR_OPERATION_POINTWISE_YDESC),
            {operation.child(CUDNN_ATTR_OPERATION_POINTWISE_XDESC),
             operation.child(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)}};
  }
  const DescriptorPtr input = operation.child(names->input);
  const DescriptorPtr weight = operation.child(names->weight);
  const DescriptorPtr output = operation.child(names->output);
  if (names->computes == Computes::output) return {output, {input, weight}};
  if (names->computes == Computes::input_gradient) return {input, {weight, output}};
  return {weight, {input, output}};
}

bool is_same_tensor(const Descriptor& a, const Descriptor& b) {
  const auto attributes = {CUDNN_ATTR_TENSOR_UNIQUE_ID,      CUDNN_ATTR_TENSOR_DATA_TYPE,
                           CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_ATTR_TENSOR_DIMENSIONS,
                           CUDNN_ATTR_TENSOR_STRIDES,        CUDNN_ATTR_TENSOR_IS_VIRTUAL};
  return std::ranges::all_of(attributes, [&](cudnnBackendAttributeName_t name) {
    return a.bytes_of(name) == b.bytes_of(name);
  });
}

std::int64_t id_of(const Descriptor& tensor) {
  return tensor.one(CUDNN_ATTR_TENSOR_UNIQUE_ID, std::int64_t{0});
}

/// A tensor written by one operation and read by another under the same id must be the same.
cudnnStatus_t check_links(const std::vector<DescriptorPtr>& operations) {
  for (const DescriptorPtr& writer : operations) {
    const DescriptorPtr written = edges_of(*writer).written;
    for (const DescriptorPtr& reader : operations) {
      if (reader == writer) continue;
      for (const DescriptorPtr& read : edges_of(*reader).read) {
        if (id_of(*read) == id_of(*written) && !is_same_tensor(*read, *written)) {
          return bad_parameter("node->linkEdges(peerNode.get())");
        }
      }
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

Tensor tensor_of(const Descriptor& from) {
  Tensor tensor{.id = id_of(from),
                .type = type_of(from),
                .alignment = from.one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{0})};
  std::ranges::copy(from.list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS), tensor.extents.begin());
  std::ranges::copy(from.list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES), tensor.strides.begin());
  return tensor;
}

Convolution convolution_of(const Descriptor& operation, const ConvolutionNames& names) {
  const Descriptor& from = *operation.child(names.convolution);
  const auto pair = [&from](cudnnBackendAttributeName_t name) {
    const Integers list = list_of(from, name, 2);
    return std::array<std::int64_t, 2>{list[0], list[1]};
  };
  return {.computes = names.computes,
          .input = tensor_of(*operation.child(names.input)),
          .weight = tensor_of(*operation.child(names.weight)),
          .output = tensor_of(*operation.child(names.output)),
          .before = pair(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
          .after = pair(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
          .stride = pair(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
          .dilation = pair(CUDNN_ATTR_CONVOLUTION_DILATIONS),
          .mode = from.one(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CONVOLUTION),
          .sums = from.one(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT),
          .alpha = operation.one(names.alpha, 1.0f),
          .beta = operation.one(names.beta, 0.0f)};
}

bool is_addition(const Descriptor& pointwise) {
  const DescriptorPtr what = pointwise.child(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  return !what ||
         (what->one(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_ADD) == CUDNN_POINTWISE_ADD &&
          what->one(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT) == CUDNN_DATA_FLOAT);
}

/// The graph as a convolution followed by a bias; empty if it is anything else, which engines then
/// do not support.
std::optional<Convolution> with_bias(Convolution convolution, const Descriptor& pointwise) {
  const Edges edges = edges_of(pointwise);
  const Tensor product = tensor_of(*edges.read[0]);
  const Tensor bias = tensor_of(*edges.read[1]);
  const Tensor output = tensor_of(*edges.written);
  const std::array<std::int64_t, 4> a_channel_each{1, output.extents[1], 1, 1};
  if (convolution.computes != Computes::output || !is_addition(pointwise) ||
      product.id != convolution.output.id || product.extents != output.extents ||
      bias.extents != a_channel_each || product.type != CUDNN_DATA_FLOAT) {
    return std::nullopt;
  }
  convolution.output = output;
  convolution.bias = bias;
  return convolution;
}

std::optional<Convolution> read_graph(const std::vector<DescriptorPtr>& operations) {
  const ConvolutionNames* const names = names_of(operations[0]->type);
  if (names == nullptr || operations.size() > 2) return std::nullopt;
  const Convolution convolution = convolution_of(*operations[0], *names);
  if (operations.size() == 1) return convolution;
  if (names_of(operations[1]->type) != nullptr) return std::nullopt;
  return with_bias(convolution, *operations[1]);
}

}  // namespace

cudnnStatus_t finalize_tensor(const Descriptor& tensor) {
  constexpr std::size_t kMostAxes = CUDNN_DIM_MAX;
  const auto extents = tensor.list<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = tensor.list<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  if (extents.empty() || extents.size() != strides.size())
    return bad_parameter("_nbDims != _nbStrides");
  if (extents.size() > kMostAxes)
    return bad_parameter("_nbDims >= int(sizeof(_dimA) / sizeof(_dimA[0]))");
  if (is_below(extents, 0)) return bad_parameter("_dimA[d] < 0");
  if (is_below(strides, 0)) return bad_parameter("_strA[d] < 0");
  const auto alignment = tensor.one(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{0});
  // Types that the stand-in does not compute with count as one byte.
  const std::int64_t element = std::max<std::int64_t>(size_of(type_of(tensor)), 1);
  if (alignment <= 0 || alignment % element != 0) {
    return bad_parameter("(_ptrAlignment <= 0) || _ptrAlignment % sizeofCudnnType(_dataType) != 0");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_convolution(const Descriptor& convolution) {
  const auto axes = convolution.one(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{0});
  if (axes <= 0) return bad_parameter("finalize_internal()");
  const auto fits = [&](cudnnBackendAttributeName_t name, bool may_be_left_out,
                        std::int64_t least) {
    if (!convolution.has(name)) return may_be_left_out;
    const auto list = convolution.list<std::int64_t>(name);
    return std::ssize(list) == axes && !is_below(list, least);
  };
  const bool all_fit = fits(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, true, 0) &&
                       fits(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, true, 0) &&
                       fits(CUDNN_ATTR_CONVOLUTION_DILATIONS, false, 1) &&
                       fits(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, false, 1);
  return all_fit ? CUDNN_STATUS_SUCCESS : bad_parameter("finalize_internal()");
}

cudnnStatus_t finalize_convolution_operation(const Descriptor& operation) {
  const ConvolutionNames& names = *names_of(operation.type);
  for (const auto name : {names.convolution, names.input, names.weight, names.output}) {
    const DescriptorPtr child = operation.child(name);
    if (!child || !child->finalized) return bad_parameter("(!xDesc.isFinalized()) || ...");
  }
  const Integers input = extents_of(operation.child(names.input));
  const Integers weight = extents_of(operation.child(names.weight));
  const Integers output = extents_of(operation.child(names.output));
  const Descriptor& convolution = *operation.child(names.convolution);
  const auto axes = convolution.one(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{0});
  // Two spatial axes: the stand-in supports no others.
  if (axes != 2 || input.size() != 4 || weight.size() != 4 || output.size() != 4) {
    return bad_parameter("nb_spatial_dims > nb_tensor_dims - 2");
  }
  const cudnnStatus_t channels = check_channels(input, weight, output);
  if (channels != CUDNN_STATUS_SUCCESS) return channels;
  return check_axes(convolution, input, weight, output);
}

cudnnStatus_t finalize_pointwise_operation(const Descriptor& operation) {
  const auto axes = [&operation](cudnnBackendAttributeName_t name) {
    return extents_of(operation.child(name)).size();
  };
  const std::size_t input = axes(CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
  if (input == 0 || input != axes(CUDNN_ATTR_OPERATION_POINTWISE_YDESC)) {
    return bad_parameter("xDesc.getNbDims() != yDesc.getNbDims()");
  }
  if (input != axes(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) {
    return bad_parameter("xDesc.getNbDims() != bDesc.getNbDims()");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t finalize_graph(Descriptor& graph) {
  const auto operations = graph.children(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (operations.empty()) return bad_parameter("outputGraph.buildDAG()");
  const cudnnStatus_t links = check_links(operations);
  if (links != CUDNN_STATUS_SUCCESS) return links;
  graph.convolution = read_graph(operations);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace standin::cudnn
