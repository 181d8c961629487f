#include "ops/conv.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/bias.h"
#include "ops/expect.h"
#include "ops/initializers.h"

namespace trainyard {
namespace {

void require_groups(const char* what, std::int64_t channels, std::int64_t groups) {
  if (channels % groups == 0) return;
  throw ShapeError(fmt::format("{} {} are not divisible by {} groups", channels, what, groups));
}

WindowPlan plan_conv(const ConvAttributes& conv, const Shape& input) {
  return plan_window(input, {conv.kernel, conv.stride, conv.dilation}, conv.pad);
}

std::vector<ParameterSpec> conv_parameters(const ConvAttributes& conv, std::int64_t channels) {
  const std::int64_t window = conv.kernel.h * conv.kernel.w;
  ParameterSpec weight{
      .name = "weight",
      .shape = {conv.filters, channels / conv.groups, conv.kernel.h, conv.kernel.w},
      .initializer = conv.init,
      .group = ParameterGroup::kernel,
      .l2 = conv.l2,
      .fan_in = window * channels / conv.groups,
      .fan_out = window * conv.filters};
  std::vector<ParameterSpec> parameters{weight};
  if (conv.bias) parameters.push_back(bias_for(weight, conv.filters));
  return parameters;
}

}  // namespace

Margins ConvOp::margins(const Shape& input) const {
  return plan_conv(attributes_, input).margins();
}

Signature ConvOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  require_groups("input channels", input.c(), attributes_.groups);
  require_groups("filters", attributes_.filters, attributes_.groups);
  const WindowPlan plan = plan_conv(attributes_, input);
  Signature signature;
  signature.outputs = {{input.n(), attributes_.filters, plan.h.output, plan.w.output}};
  signature.parameters = conv_parameters(attributes_, input.c());
  signature.multiply_adds =
      size_product({signature.outputs[0].elements(), signature.parameters[0].fan_in});
  return signature;
}

Contract ConvOp::contract() const {
  return {.backward_reads_inputs = true, .layouts = Contract::Layouts::any};
}

std::string ConvOp::attributes() const {
  const ConvAttributes& conv = attributes_;
  return fmt::format(
      "{{filters: {}, kernel: {}, stride: {}, pad: {}, dilation: {}, groups: {}, bias: {}, "
      "init: {}, l2: {}}}",
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

config::Kind<Op> conv_kind() {
  return {"conv", "two-dimensional convolution", [](config::Fields& fields) -> std::unique_ptr<Op> {
            ConvAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<ConvOp>(attributes);
          }};
}

}  // namespace trainyard
