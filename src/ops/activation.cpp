#include "ops/activation.h"

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

std::string text_of(const LeakyRelu& leaky_relu) {
  return "{slope: " + number_text(leaky_relu.slope) + "}";
}

std::string text_of(const Elu& elu) { return "{alpha: " + number_text(elu.alpha) + "}"; }

std::string text_of(const HardSigmoid& hard_sigmoid) {
  if (hard_sigmoid.slope == HardSigmoid{}.slope) return "{}";
  return "{slope: " + number_text(hard_sigmoid.slope) + "}";
}

}  // namespace trainyard
