#include "ops/affine.h"

#include <utility>

#include "ops/expect.h"
#include "tensor/launch_limits.h"

namespace trainyard {
namespace {

constexpr std::int64_t kPairBytes = 2 * sizeof(double);

}  // namespace

ParameterSpec channel_parameter(std::string name, std::int64_t channels,
                                const Initializer& initializer, ParameterGroup group) {
  return {.name = std::move(name),
          .shape = {channels},
          .initializer = initializer,
          .group = group,
          .l2 = 0,
          .fan_in = channels,
          .fan_out = channels};
}

std::vector<ParameterSpec> affine_parameters(std::int64_t channels, bool scale, bool center,
                                             double gamma) {
  using Kind = Initializer::Kind;
  const Initializer factor = gamma == 1 ? Initializer{.kind = Kind::ones}
                                        : Initializer{.kind = Kind::constant, .value = gamma};
  std::vector<ParameterSpec> parameters;
  if (scale) {
    parameters.push_back(channel_parameter("gamma", channels, factor, ParameterGroup::gamma));
  }
  if (center) {
    parameters.push_back(
        channel_parameter("beta", channels, {.kind = Kind::zeros}, ParameterGroup::beta));
  }
  return parameters;
}

Signature ChannelParameterOp::infer(std::span<const Shape> inputs) const {
  require_features_or_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.parameters = parameters(inputs[0].c());
  signature.workspace_bytes = static_cast<std::int64_t>(channel_sum_bytes(inputs[0]));
  return signature;
}

Contract ChannelParameterOp::contract() const {
  return {.backward_reads_inputs = true,
          .synced_backward = true,
          .in_place_forward = true,
          .in_place_backward = true,
          .keeps_steps = keeps_steps()};
}

std::int64_t most_elements(const Shape& shape) {
  constexpr std::int64_t kBlock = 16;  // the largest block of channels
  const std::int64_t blocks = (shape.c() + kBlock - 1) / kBlock;
  return size_product({shape.n(), blocks, kBlock, shape.h(), shape.w()});
}

std::size_t channel_sum_bytes(const Shape& shape) {
  const std::int64_t rows = size_product({shape.n(), shape.h(), shape.w()});
  return static_cast<std::size_t>(size_product({column_chunks(rows), shape.c(), kPairBytes}));
}

std::size_t map_sum_bytes(const Shape& shape) {
  const std::int64_t chunks = 1 + column_chunks(size_product({shape.h(), shape.w()}));
  const std::int64_t maps = most_elements({shape.n(), shape.c(), 1, 1});
  return static_cast<std::size_t>(size_product({chunks, maps, kPairBytes}));
}

}  // namespace trainyard
