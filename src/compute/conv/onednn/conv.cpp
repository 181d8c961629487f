// Convolutions. Weights are plain OIHW in the flat blocks; each step packs them into the format,
// and rounds them to the type, that its implementation requires. Their gradients are computed in
// exec/direct. oneDNN adds to what is there only in a forward convolution, which a gradient of the
// input is too where its kernel is 1x1.
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "compute/conv/conv_step.h"
#include "compute/conv/onednn/dnnl.h"
#include "compute/conv/onednn/primitives.h"
#include "compute/conv/weight_gradient/weight_gradient.h"
#include "compute/copy/adds_apart.h"
#include "compute/elementwise/channel_sums.h"
#include "launcher/launch.h"
#include "ops/affine.h"

namespace trainyard::onednn {
namespace {

constexpr int kBestRank = 2;

/// The quality of an implementation, judged by its name: 2 for generated code, 1 for matrix
/// products over unfolded images, 0 for the plain loops that oneDNN calls ref (up to 1,000 times
/// slower).
int rank_of(std::string_view implementation) {
  const auto has = [&](std::string_view word) {
    return implementation.find(word) != std::string_view::npos;
  };
  if (has("ref")) return 0;
  if (has("gemm") && !has("brgemm")) return 1;
  return kBestRank;
}

/// build(a, b) makes a primitive descriptor, which may be empty, for two activation layouts. The
/// result is for the given layouts, unless others have a better implementation: then the step
/// copies its activations.
template <class Build>
auto choose(const Build& build, const Desc& a, const Desc& b) {
  auto given = build(a, b);
  const int rank = given ? rank_of(given.impl_info_str()) : -1;
  if (rank == kBestRank) return given;
  auto preferred = build(any_of(a), any_of(b));
  if (preferred && rank_of(preferred.impl_info_str()) > rank) return preferred;
  TY_CHECK(rank >= 0, "oneDNN has an implementation for every shape that inference lets pass");
  return given;
}

/// One convolution as oneDNN sees it.
struct Convolution {
  Desc source, destination;  // in the plan's layouts
  Desc weights, bias;        // the flat blocks: f32
  Desc factors;              // the weights as they are multiplied: in the type of both maps
  ConvMaps<Source> at;       // where these two are, or their gradients
  WindowDims window;
  bool forward = true;    // the product is its output, else the gradient of its input
  bool has_bias = false;  // oneDNN adds it to the output
  bool adds = false;      // the product is added to what is there
};

Convolution describe_conv(const ConvStep& step, DType storage) {
  const ConvAttributes& conv = step.attributes;
  const Margins& margins = step.margins;
  const bool has_bias = conv.bias && !step.transposed;
  Dims weights{step.filters() / conv.groups, step.channels(), conv.kernel.h, conv.kernel.w};
  if (conv.groups > 1) weights.insert(weights.begin(), conv.groups);
  return {
      .source = desc_of(step.maps.input, storage),
      .destination = desc_of(step.maps.output, storage),
      .weights = plain_desc(weights),
      .bias = has_bias ? plain_desc({conv.filters}) : Desc(),
      .factors = any_desc(weights, storage),
      .at = step.by_role(step.pass == Pass::backward_data ? Source::input_gradient : Source::input,
                         step.forward() ? Source::output : Source::output_gradient),
      .window = {.size = {conv.kernel.h, conv.kernel.w},
                 .stride = {conv.stride.h, conv.stride.w},
                 .dilation = {conv.dilation.h - 1, conv.dilation.w - 1},
                 .before = {margins.top, margins.left},
                 .after = {margins.bottom, margins.right}},
      .forward = step.computes == ConvProduct::output,
      .has_bias = has_bias,
      .adds = step.form.adds_gradient};
}

/// Whether each pixel is multiplied for itself.
bool is_pixelwise(const ConvStep& step) {
  const ConvAttributes& conv = step.attributes;
  const config::Pair one{1, 1};
  return conv.kernel == one && conv.stride == one && conv.groups == 1 && step.margins == Margins{};
}

/// The gradient of a pixelwise convolution's input as a convolution of the output's gradient.
Convolution as_forward(Convolution conv, DType storage) {
  std::swap(conv.source, conv.destination);
  std::swap(conv.at.input, conv.at.output);
  conv.weights = conv.weights.permute_axes({1, 0, 2, 3});
  conv.factors = any_desc(dims_of(conv.weights), storage);
  conv.bias = Desc();
  conv.has_bias = false;
  conv.forward = true;
  return conv;
}

auto forward_desc(const dnnl::engine& engine, const Convolution& conv, const Desc& source,
                  const Desc& destination) {
  return convolution_forward(engine, source, conv.factors, conv.bias, destination, conv.window,
                             conv.adds);
}

void add_output(PrimitiveList& list, const Convolution& conv) {
  const auto build = [&](const Desc& source, const Desc& destination) {
    return forward_desc(list.engine(), conv, source, destination);
  };
  const auto desc = choose(build, conv.source, conv.destination);
  const auto source = list.read_as(conv.at.input, 0, conv.source, desc.src_desc());
  const auto weights = list.read_as(Source::parameter, 0, conv.weights, desc.weights_desc());
  const auto destination = list.write_as(conv.at.output, 0, conv.destination, desc.dst_desc());
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, destination}};
  if (conv.has_bias) {
    arguments.emplace_back(DNNL_ARG_BIAS, list.tensor(Source::parameter, 1, conv.bias));
  }
  list.add(desc, dnnl::convolution_forward(desc), arguments);
}

void add_input_gradient(PrimitiveList& list, const Convolution& conv) {
  const auto build = [&](const Desc& source, const Desc& destination) {
    const auto hint = forward_desc(list.engine(), conv, source, destination);
    return convolution_backward_data(list.engine(), hint, source, conv.factors, destination,
                                     conv.window);
  };
  const auto desc = choose(build, conv.source, conv.destination);
  const auto gradient = list.read_as(conv.at.output, 0, conv.destination, desc.diff_dst_desc());
  const auto weights = list.read_as(Source::parameter, 0, conv.weights, desc.weights_desc());
  const auto result = list.write_as(conv.at.input, 0, conv.source, desc.diff_src_desc());
  list.add(
      desc, dnnl::convolution_backward_data(desc),
      {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, result}});
}

/// y + bias, in place.
template <class T>
struct PlusBias {
  const T* y;
  const float* bias;  // [channels]
  float operator()(const ElementIndex& at) const {
    return static_cast<float>(y[at.offset]) + bias[at.c];
  }
};

/// The terms of the bias's gradient.
template <class T>
struct BiasTerms {
  const T* dy;
  PairSum operator()(const ElementIndex& at) const {
    return {static_cast<float>(dy[at.offset]), 0};
  }
};

/// A transposed convolution's forward pass or gradient of the parameters: no primitive of a
/// convolution has a bias for its input.
template <class T>
class WithBias final : public Executor {
 public:
  WithBias(ExecutorPtr product, const StepDescription& step)
      : product_(std::move(product)),
        gradient_(step.pass == Pass::backward_parameters),
        launcher_(step.threads) {
    static_cast<void>(workspace_.take(product_->workspace_bytes()));  // the first slot
    if (gradient_) sums_ = workspace_.take(channel_sum_bytes(shape_of(step.outputs[0])));
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return workspace_.used(); }
  void bind(const StepTensors& tensors) override {
    tensors_ = tensors;
    product_->bind(tensors);
  }
  [[nodiscard]] Algorithm algorithm() const override { return product_->algorithm(); }
  void run() override {
    product_->run();
    gradient_ ? sum_gradient() : add_bias();
  }

 private:
  void add_bias() const {
    const TensorView& out = tensors_.outputs[0];
    map_indexed<T>(launcher_, out, PlusBias<T>{out.as<T>(), tensors_.parameters[1].as<float>()});
  }
  void sum_gradient() const {
    const TensorView& dy = tensors_.output_gradients[0];
    sum_channels(launcher_, dy.layout, BiasTerms<T>{dy.as<T>()},
                 tensors_.parameter_gradients[1].as<float>(), static_cast<float*>(nullptr),
                 address_at(tensors_.workspace, sums_), tensors_.batch.finished);
  }

  ExecutorPtr product_;
  bool gradient_;
  CpuLauncher launcher_;
  OffsetAllocator workspace_{64};  // cache lines, as PrimitiveList requires
  std::size_t sums_ = 0;
  StepTensors tensors_;
};

/// Whether oneDNN has a good implementation that adds in the plan's layouts.
bool adds_in_place(const dnnl::engine& engine, const Convolution& conv) {
  if (!conv.forward) return false;
  const auto desc = forward_desc(engine, conv, conv.source, conv.destination);
  return desc && rank_of(desc.impl_info_str()) == kBestRank;
}

ExecutorPtr make_product(const LibraryPtr& library, const StepDescription& step) {
  const ConvStep product = conv_step(step);
  if (product.computes == ConvProduct::weight_gradient) return direct::make_weight_gradient(step);
  Convolution conv = describe_conv(product, step.storage);
  if (conv.adds && !conv.forward && is_pixelwise(product)) conv = as_forward(conv, step.storage);
  if (conv.adds && !adds_in_place(library->engine, conv)) {
    return add_apart(step, [&](const auto& whole) { return make_product(library, whole); });
  }
  auto list = std::make_unique<PrimitiveList>(library, step.threads);
  conv.forward ? add_output(*list, conv) : add_input_gradient(*list, conv);
  list->finish();
  return list;
}

}  // namespace

ExecutorPtr make_conv(const LibraryPtr& library, const StepDescription& step) {
  const ConvStep conv = conv_step(step);
  ExecutorPtr product = make_product(library, step);
  const bool bias_apart =
      conv.transposed && conv.attributes.bias && step.pass != Pass::backward_data;
  if (!bias_apart) return product;
  if (step.storage == DType::bf16) {
    return std::make_unique<WithBias<BFloat16>>(std::move(product), step);
  }
  return std::make_unique<WithBias<float>>(std::move(product), step);
}

}  // namespace trainyard::onednn
