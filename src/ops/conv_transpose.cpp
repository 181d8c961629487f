#include "ops/conv_transpose.h"

#include <fmt/format.h>

#include "ops/expect.h"

namespace trainyard {

WindowPlan ConvTransposeOp::plan(const Shape& input) const {
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
  const WindowPlan window = plan(input);
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

config::Kind<Op> conv_transpose_kind() {
  return {"conv_transpose", "transposed convolution, which enlarges maps",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            ConvTransposeAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<ConvTransposeOp>(attributes);
          }};
}

}  // namespace trainyard
