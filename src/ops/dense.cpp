#include "ops/dense.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/expect.h"
#include "ops/initializers.h"
#include "ops/window.h"

namespace trainyard {

Signature DenseOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  const bool each = values().per_position;
  if (each && input.h() != 1) {
    throw ShapeError(fmt::format(
        "dense with 'per_position' needs a sequence [n, c, 1, t], found {}", input.text()));
  }
  const std::int64_t positions = each ? input.w() : 1;
  const std::int64_t features = size_product({input.c(), input.h(), input.w()}) / positions;
  ParameterSpec weight{.name = "weight",
                       .shape = {values().units, features},
                       .initializer = values().init,
                       .group = ParameterGroup::kernel,
                       .l2 = values().l2,
                       .fan_in = features,
                       .fan_out = values().units};
  Signature signature;
  signature.outputs = {{input.n(), values().units}};
  if (each && input.rank() == 4) signature.outputs = {input.with(1, values().units)};
  signature.parameters = {weight};
  if (values().bias) signature.parameters.push_back(bias_for(weight, values().units));
  signature.multiply_adds = size_product({input.n(), positions, values().units, features});
  return signature;
}

Contract DenseOp::contract() const {
  using Layouts = Contract::Layouts;
  return {.backward_reads_inputs = true,
          .keeps_steps = values().per_position,
          .can = Cans{Can::add_gradient, Can::use_side_queue}
                     .set(Can::take_relu, values().bias)
                     .set(Can::leave_bias, values().bias),
          .layouts = values().per_position ? Layouts::rows : Layouts::plain};
}

OpPtr DenseOp::without_bias() const {
  if (!values().bias) return nullptr;
  DenseAttributes attributes = values();
  attributes.bias = false;
  return std::make_unique<DenseOp>(attributes);
}

Layout matrix_layout(const DenseAttributes& dense, const Layout& layout) {
  if (!dense.per_position) return layout;
  return plain_layout({layout.extent[0] * layout.extent[3], layout.extent[1]});
}

std::string DenseOp::attributes() const {
  return fmt::format("{{units: {}, bias: {}, init: {}, l2: {}{}}}", values().units, values().bias,
                     text_of(values().init), number_text(values().l2),
                     values().per_position ? ", per_position: true" : "");
}

void declare(config::Fields& fields, DenseAttributes& dense) {
  dense.init = default_kernel_initializer(fields.profile());
  fields.required("units", dense.units, "number of outputs",
                  {.minimum = 1, .maximum = kMostChannels});
  fields.field("bias", dense.bias, "add a bias to each output");
  declare_initializer(fields, "init", dense.init, "initializer of the kernel");
  fields.field("l2", dense.l2, "adds l2 * sum(w^2) of the kernel to the loss, as Keras does",
               {.minimum = 0});
  fields.field("per_position", dense.per_position,
               "applies the layer to each position of a sequence, as Keras does, instead of "
               "reading the sample as one row");
}

std::span<const config::Kind<Op>> dense_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"dense", "fully connected layer; an image or sequence is read as one row of features",
       &read_op<DenseOp, DenseAttributes>},
  };
  return kinds;
}

}  // namespace trainyard
