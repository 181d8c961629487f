// Convolutions. Weights are plain OIHW in the flat blocks; each step packs them into, or unpacks
// their gradient from, the format that its implementation requires.
#include "ops/conv.h"

#include "exec/onednn/choose.h"
#include "exec/onednn/executors.h"

namespace trainyard::onednn {
namespace {

/// One convolution as oneDNN sees it.
struct Convolution {
  Desc source, weights, bias, destination;  // source and destination in the plan's layouts
  WindowDims window;
  bool has_bias = false;
};

Convolution describe_conv(const StepDescription& step) {
  const auto& op = static_cast<const ConvOp&>(*step.op);
  const ConvAttributes& conv = op.values();
  const Margins margins = op.margins(shape_of(step.inputs[0]));
  const std::int64_t channels = step.inputs[0].extent[1] / conv.groups;
  const std::int64_t filters = conv.filters / conv.groups;
  Dims weights{filters, channels, conv.kernel.h, conv.kernel.w};
  if (conv.groups > 1) weights.insert(weights.begin(), conv.groups);
  return {.source = desc_of(step.inputs[0]),
          .weights = plain_desc(weights),
          .bias = conv.bias ? plain_desc({conv.filters}) : Desc(),
          .destination = desc_of(step.outputs[0]),
          .window = {.size = {conv.kernel.h, conv.kernel.w},
                     .stride = {conv.stride.h, conv.stride.w},
                     .dilation = {conv.dilation.h - 1, conv.dilation.w - 1},
                     .before = {margins.top, margins.left},
                     .after = {margins.bottom, margins.right}},
          .has_bias = conv.bias};
}

auto forward_desc(const dnnl::engine& engine, const Convolution& conv, const Desc& source,
                  const Desc& destination) {
  return convolution_forward(engine, source, any_of(conv.weights), conv.bias, destination,
                             conv.window);
}

void add_forward(PrimitiveList& list, const Convolution& conv) {
  const auto build = [&](const Desc& source, const Desc& destination) {
    return forward_desc(list.engine(), conv, source, destination);
  };
  const auto desc = choose(build, conv.source, conv.destination);
  const auto source = list.read_as(Source::input, 0, conv.source, desc.src_desc());
  const auto weights = list.read_as(Source::parameter, 0, conv.weights, desc.weights_desc());
  const auto destination = list.write_as(Source::output, 0, conv.destination, desc.dst_desc());
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DST, destination}};
  if (conv.has_bias) {
    arguments.emplace_back(DNNL_ARG_BIAS, list.tensor(Source::parameter, 1, conv.bias));
  }
  list.add(desc, dnnl::convolution_forward(desc), arguments);
}

void add_backward_data(PrimitiveList& list, const Convolution& conv) {
  const auto build = [&](const Desc& source, const Desc& destination) {
    const auto hint = forward_desc(list.engine(), conv, source, destination);
    return convolution_backward_data(list.engine(), hint, source, any_of(conv.weights), destination,
                                     conv.window);
  };
  const auto desc = choose(build, conv.source, conv.destination);
  const auto gradient =
      list.read_as(Source::output_gradient, 0, conv.destination, desc.diff_dst_desc());
  const auto weights = list.read_as(Source::parameter, 0, conv.weights, desc.weights_desc());
  const auto result = list.write_as(Source::input_gradient, 0, conv.source, desc.diff_src_desc());
  list.add(
      desc, dnnl::convolution_backward_data(desc),
      {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_SRC, result}});
}

void add_backward_parameters(PrimitiveList& list, const Convolution& conv) {
  const auto build = [&](const Desc& source, const Desc& destination) {
    const auto hint = forward_desc(list.engine(), conv, source, destination);
    return convolution_backward_weights(list.engine(), hint, source, any_of(conv.weights),
                                        conv.bias, destination, conv.window);
  };
  const auto desc = choose(build, conv.source, conv.destination);
  const auto source = list.read_as(Source::input, 0, conv.source, desc.src_desc());
  const auto gradient =
      list.read_as(Source::output_gradient, 0, conv.destination, desc.diff_dst_desc());
  const auto weights =
      list.write_as(Source::parameter_gradient, 0, conv.weights, desc.diff_weights_desc());
  PrimitiveList::Arguments arguments{
      {DNNL_ARG_SRC, source}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_WEIGHTS, weights}};
  if (conv.has_bias) {
    arguments.emplace_back(DNNL_ARG_DIFF_BIAS,
                           list.tensor(Source::parameter_gradient, 1, conv.bias));
  }
  list.add(desc, dnnl::convolution_backward_weights(desc), arguments);
}

}  // namespace

std::unique_ptr<Executor> make_conv(const LibraryPtr& library, const StepDescription& step) {
  auto list = std::make_unique<PrimitiveList>(library, step.threads);
  const Convolution conv = describe_conv(step);
  switch (step.pass) {
    case Pass::forward_train:
    case Pass::forward_eval:
      add_forward(*list, conv);
      break;
    case Pass::backward_data:
      add_backward_data(*list, conv);
      break;
    case Pass::backward_parameters:
      add_backward_parameters(*list, conv);
      break;
  }
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
