#include "ops/conv.h"

#include "ops/expect.h"

namespace trainyard {
namespace {

WindowPlan plan_conv(const ConvAttributes& conv, const Shape& input) {
  return plan_window(input, {conv.kernel, conv.stride, conv.dilation}, conv.pad);
}

}  // namespace

Margins ConvOp::margins(const Shape& input) const { return plan_conv(values(), input).margins(); }

Signature ConvOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_images(input);
  require_groups("input channels", input.c(), values().groups);
  require_groups("filters", values().filters, values().groups);
  const WindowPlan plan = plan_conv(values(), input);
  Signature signature;
  signature.outputs = {{input.n(), values().filters, plan.h.output, plan.w.output}};
  signature.parameters = parameters(values().filters, input.c());
  signature.multiply_adds =
      size_product({signature.outputs[0].elements(), signature.parameters[0].fan_in});
  return signature;
}

config::Kind<Op> conv_kind() {
  return {"conv", "two-dimensional convolution", [](config::Fields& fields) -> std::unique_ptr<Op> {
            ConvAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<ConvOp>(attributes);
          }};
}

}  // namespace trainyard
