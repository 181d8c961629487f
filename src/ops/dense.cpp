#include "ops/dense.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/bias.h"
#include "ops/expect.h"
#include "ops/initializers.h"
#include "ops/window.h"

namespace trainyard {

Signature DenseOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  const std::int64_t features = size_product({input.c(), input.h(), input.w()});
  ParameterSpec weight{.name = "weight",
                       .shape = {attributes_.units, features},
                       .initializer = attributes_.init,
                       .group = ParameterGroup::kernel,
                       .l2 = attributes_.l2,
                       .fan_in = features,
                       .fan_out = attributes_.units};
  Signature signature;
  signature.outputs = {{input.n(), attributes_.units}};
  signature.parameters = {weight};
  if (attributes_.bias) signature.parameters.push_back(bias_for(weight, attributes_.units));
  signature.multiply_adds = size_product({input.n(), attributes_.units, features});
  return signature;
}

Contract DenseOp::contract() const {
  return {.backward_reads_inputs = true, .layouts = Contract::Layouts::plain};
}

std::string DenseOp::attributes() const {
  return fmt::format("{{units: {}, bias: {}, init: {}, l2: {}}}", attributes_.units,
                     attributes_.bias, text_of(attributes_.init), number_text(attributes_.l2));
}

void declare(config::Fields& fields, DenseAttributes& dense) {
  dense.init = default_kernel_initializer(fields.profile());
  fields.required("units", dense.units, "number of outputs",
                  {.minimum = 1, .maximum = kMostChannels});
  fields.field("bias", dense.bias, "add a bias to each output");
  declare_initializer(fields, "init", dense.init, "initializer of the kernel");
  fields.field("l2", dense.l2, "adds l2 * sum(w^2) of the kernel to the loss, as Keras does",
               {.minimum = 0});
}

config::Kind<Op> dense_kind() {
  return {"dense", "fully connected layer; an image is read as one row of features",
          [](config::Fields& fields) -> std::unique_ptr<Op> {
            DenseAttributes attributes;
            declare(fields, attributes);
            return std::make_unique<DenseOp>(attributes);
          }};
}

}  // namespace trainyard
