#include "ops/convolution.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/expect.h"
#include "ops/initializers.h"

namespace trainyard {

std::vector<ParameterSpec> ConvolutionOp::parameters(std::int64_t filters,
                                                     std::int64_t channels) const {
  const std::int64_t window = values().kernel.h * values().kernel.w;
  ParameterSpec weight{
      .name = "weight",
      .shape = {filters, channels / values().groups, values().kernel.h, values().kernel.w},
      .initializer = values().init,
      .group = ParameterGroup::kernel,
      .l2 = values().l2,
      .fan_in = window * channels / values().groups,
      .fan_out = window * filters};
  std::vector<ParameterSpec> parameters{weight};
  if (values().bias) parameters.push_back(bias_for(weight, values().filters));
  return parameters;
}

std::string text_of(const ConvAttributes& conv) {
  return fmt::format(
      "filters: {}, kernel: {}, stride: {}, pad: {}, dilation: {}, groups: {}, bias: {}, init: {}, "
      "l2: {}",
      conv.filters, text_of(conv.kernel), text_of(conv.stride), text_of(conv.pad),
      text_of(conv.dilation), conv.groups, conv.bias, text_of(conv.init), number_text(conv.l2));
}

void declare(config::Fields& fields, ConvAttributes& conv) {
  conv.init = default_kernel_initializer(fields.profile());
  fields.required("filters", conv.filters, "output channels",
                  {.minimum = 1, .maximum = kMostChannels});
  fields.required("kernel", conv.kernel, "size of the window; one number or [h, w]",
                  {.minimum = 1, .maximum = kLargestWindow});
  fields.field("stride", conv.stride, "step of the window; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  declare_padding(fields, "pad", conv.pad,
                  "pixels, [h, w], valid, same_upper, same_lower or same_symmetric");
  fields.field("dilation", conv.dilation,
               "distance between the window's taps; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  fields.field("groups", conv.groups, "number of independent channel groups",
               {.minimum = 1, .maximum = kMostChannels});
  fields.field("bias", conv.bias, "add a bias to each output channel");
  declare_initializer(fields, "init", conv.init, "initializer of the kernel");
  fields.field("l2", conv.l2, "adds l2 * sum(w^2) of the kernel to the loss, as Keras does",
               {.minimum = 0});
}

namespace {

WindowSplit plan_conv(const ConvAttributes& conv, const Shape& input) {
  return plan_window(input, {conv.kernel, conv.stride, conv.dilation}, conv.pad);
}

}  // namespace

Margins ConvOp::margins(const Shape& input) const { return plan_conv(values(), input).margins(); }

Signature ConvOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  require_groups("input channels", input.c(), values().groups);
  require_groups("filters", values().filters, values().groups);
  const WindowSplit plan = plan_conv(values(), input);
  Signature signature;
  signature.outputs = {{input.n(), values().filters, plan.h.output, plan.w.output}};
  signature.parameters = parameters(values().filters, input.c());
  signature.multiply_adds =
      size_product({signature.outputs[0].elements(), signature.parameters[0].fan_in});
  return signature;
}

WindowSplit ConvTransposeOp::plan(const Shape& input) const {
  const ConvAttributes& conv = values();
  return plan_transposed_window(input, {conv.kernel, conv.stride, conv.dilation}, conv.pad,
                                output_pad_);
}

Margins ConvTransposeOp::margins(const Shape& input) const { return plan(input).margins(); }

Signature ConvTransposeOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  require_groups("input channels", input.c(), values().groups);
  require_groups("filters", values().filters, values().groups);
  const WindowSplit window = plan(input);
  Signature signature;
  signature.outputs = {{input.n(), values().filters, window.h.output, window.w.output}};
  signature.parameters = parameters(input.c(), values().filters);
  signature.multiply_adds = size_product({input.elements(), signature.parameters[0].fan_in});
  return signature;
}

std::string ConvTransposeOp::attributes() const {
  return fmt::format("{{{}, output_pad: {}}}", text_of(values()), text_of(output_pad_));
}

void declare(config::Fields& fields, ConvTransposeAttributes& transposed) {
  ConvAttributes& conv = transposed.conv;
  if (fields.profile() != config::Profile::keras2) conv.pad.kind = Padding::Kind::pixels;
  conv.bias = fields.profile() != config::Profile::mxnet;
  declare(fields, conv);
  config::Pair& output_pad = transposed.output_pad;
  fields.field("output_pad", output_pad, "pixels added at the end of the output, below the stride",
               {.minimum = 0, .maximum = kLargestWindow});
  if (output_pad.h >= conv.stride.h || output_pad.w >= conv.stride.w) {
    fields.error("output_pad", fmt::format("'output_pad' must be below the stride {}, found {}",
                                           text_of(conv.stride), text_of(output_pad)));
    output_pad = {0, 0};
  }
}

std::span<const config::Kind<Op>> convolution_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"conv", "two-dimensional convolution", &read_op<ConvOp, ConvAttributes>},
      {"conv_transpose", "transposed convolution, which enlarges maps",
       &read_op<ConvTransposeOp, ConvTransposeAttributes>},
  };
  return kinds;
}

}  // namespace trainyard
