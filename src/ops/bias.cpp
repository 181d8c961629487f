#include "ops/bias.h"

namespace trainyard {

ParameterSpec bias_for(const ParameterSpec& kernel, std::int64_t outputs) {
  const bool torch = kernel.initializer.kind == Initializer::Kind::torch_default;
  const Initializer::Kind kind =
      torch ? Initializer::Kind::torch_default : Initializer::Kind::zeros;
  return {.name = "bias",
          .shape = {outputs},
          .initializer = {.kind = kind},
          .group = ParameterGroup::bias,
          .l2 = 0,
          .fan_in = kernel.fan_in,
          .fan_out = kernel.fan_out};
}

}  // namespace trainyard
