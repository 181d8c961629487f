#include "ops/activation.h"

#include <array>

#include "base/text.h"

namespace trainyard {

void declare(config::Fields& fields, LeakyRelu& leaky_relu) {
  const config::Profile profile = fields.profile();
  const bool small = profile == config::Profile::torch || profile == config::Profile::caffe;
  leaky_relu.slope = small ? 0.01 : profile == config::Profile::mxnet ? 0.25 : 0.3;
  fields.field("slope", leaky_relu.slope, "factor below 0", {.minimum = 0});
}

void declare(config::Fields& fields, Elu& elu) {
  if (fields.profile() == config::Profile::mxnet) elu.alpha = 0.25;
  fields.field("alpha", elu.alpha, "minus the limit at minus infinity",
               {.minimum = 0, .exclusive_minimum = true});
}

void declare(config::Fields& fields, HardSigmoid& hard_sigmoid) {
  if (fields.profile() == config::Profile::torch) hard_sigmoid.slope = 1.0 / 6;
  fields.field("slope", hard_sigmoid.slope, "factor of x: 0.2 in Keras, 1/6 in PyTorch",
               {.minimum = 0, .exclusive_minimum = true});
}

void declare(config::Fields& fields, ScaleBy& scale_by) {
  fields.required("factor", scale_by.factor, "what every value is multiplied by");
}

std::string text_of(const LeakyRelu& leaky_relu) {
  return "{slope: " + number_text(leaky_relu.slope) + "}";
}

std::string text_of(const Elu& elu) { return "{alpha: " + number_text(elu.alpha) + "}"; }

std::string text_of(const ScaleBy& scale_by) {
  return "{factor: " + number_text(scale_by.factor) + "}";
}

std::string text_of(const HardSigmoid& hard_sigmoid) {
  if (hard_sigmoid.slope == HardSigmoid{}.slope) return "{}";
  return "{slope: " + number_text(hard_sigmoid.slope) + "}";
}

Signature SoftmaxOp::infer(std::span<const Shape> inputs) const { return {.outputs = {inputs[0]}}; }

Contract SoftmaxOp::contract() const {
  return {.backward_reads_outputs = true,
          .in_place_forward = true,
          .in_place_backward = true,
          .keeps_steps = true};
}

std::vector<ParameterSpec> PreluOp::parameters(std::int64_t channels) const {
  // In the group of offsets: without weight decay, as in the paper.
  return {channel_parameter("alpha", channels,
                            {.kind = Initializer::Kind::constant, .value = attributes_.init},
                            ParameterGroup::beta)};
}

std::string PreluOp::attributes() const { return "{init: " + number_text(attributes_.init) + "}"; }

void declare(config::Fields& fields, PreluAttributes& prelu) {
  prelu.init = fields.profile() == config::Profile::keras2 ? 0 : 0.25;
  fields.field("init", prelu.init, "initial slope below 0 of every channel");
}

namespace {

/// The YAML name, help and reader of an activation.
template <class Function>
config::Kind<Op> kind_of() {
  return {Function::kName, Function::kHelp, [](config::Fields& fields) -> OpPtr {
            Function function;
            if constexpr (requires { declare(fields, function); }) declare(fields, function);
            return std::make_unique<ActivationOp<Function>>(function);
          }};
}

template <class... Functions>
auto kinds_with(const std::tuple<Functions...>* /*activations*/) {
  return std::array{config::Kind<Op>{"softmax", "e^x divided by its sum over channels",
                                     &read_plain_op<SoftmaxOp>},
                    config::Kind<Op>{"prelu", "x, or a learned slope per channel times x below 0",
                                     &read_op<PreluOp, PreluAttributes>},
                    kind_of<Functions>()...};
}

}  // namespace

std::span<const config::Kind<Op>> activation_kinds() {
  static const auto kinds = kinds_with(static_cast<const Activations*>(nullptr));
  return kinds;
}

}  // namespace trainyard
