#include "ops/affine.h"

#include <string>
#include <utility>

namespace trainyard {
namespace {

ParameterSpec of_channels(std::string name, std::int64_t channels, Initializer::Kind kind,
                          ParameterGroup group) {
  return {.name = std::move(name),
          .shape = {channels},
          .initializer = {.kind = kind},
          .group = group,
          .l2 = 0,
          .fan_in = channels,
          .fan_out = channels};
}

}  // namespace

std::vector<ParameterSpec> affine_parameters(std::int64_t channels, bool scale, bool center) {
  std::vector<ParameterSpec> parameters;
  if (scale) {
    parameters.push_back(
        of_channels("gamma", channels, Initializer::Kind::ones, ParameterGroup::gamma));
  }
  if (center) {
    parameters.push_back(
        of_channels("beta", channels, Initializer::Kind::zeros, ParameterGroup::beta));
  }
  return parameters;
}

}  // namespace trainyard
