#include "ops/sequence.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/expect.h"
#include "ops/initializers.h"
#include "ops/window.h"

namespace trainyard {

Signature EmbeddingOp::infer(std::span<const Shape> inputs) const {
  const Shape& tokens = inputs[0];
  require_tokens("embedding", tokens);
  Signature signature;
  signature.outputs = {{tokens.n(), values().units, 1, tokens.c()}};
  signature.parameters = {{.name = "weight",
                           .shape = {values().vocabulary, values().units},
                           .initializer = values().init,
                           .group = ParameterGroup::kernel,
                           .l2 = values().l2,
                           .fan_in = values().vocabulary,
                           .fan_out = values().units}};
  signature.workspace_bytes = static_cast<std::int64_t>(sort_bytes(tokens));
  return signature;
}

std::size_t EmbeddingOp::sort_bytes(const Shape& tokens) const {
  const std::int64_t numbers = tokens.elements() + values().vocabulary;
  return static_cast<std::size_t>(numbers) * sizeof(std::int32_t);
}

std::string EmbeddingOp::attributes() const {
  return fmt::format("{{units: {}, init: {}, l2: {}, vocabulary: {}{}}}", values().units,
                     text_of(values().init), number_text(values().l2), values().vocabulary,
                     values().mask_zero ? ", mask_zero: true" : "");
}

namespace {

/// Keras's RandomUniform, PyTorch's standard normal numbers, MXNet's initializer of everything;
/// Caffe has none of its own.
Initializer default_vectors(config::Profile profile) {
  switch (profile) {
    case config::Profile::torch:
      return {.kind = Initializer::Kind::normal, .value = 1};
    case config::Profile::mxnet:
      return default_kernel_initializer(profile);
    default:
      return {.kind = Initializer::Kind::uniform, .value = 0.05};
  }
}

}  // namespace

void declare(config::Fields& fields, EmbeddingAttributes& embedding) {
  embedding.init = default_vectors(fields.profile());
  fields.required("units", embedding.units, "numbers of each token's vector",
                  {.minimum = 1, .maximum = kMostChannels});
  declare_initializer(fields, "init", embedding.init, "initializer of the vectors");
  fields.field("l2", embedding.l2, "adds l2 * sum(w^2) of all vectors to the loss, as Keras does",
               {.minimum = 0});
  declare_vocabulary(fields, embedding.vocabulary);
  fields.field("mask_zero", embedding.mask_zero,
               "token 0 is padding: layers that follow leave its steps out, as Keras does");
}

std::span<const config::Kind<Op>> embedding_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"embedding", "a learned vector for each token", &read_op<EmbeddingOp, EmbeddingAttributes>},
  };
  return kinds;
}

Signature PoolStepsOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_sequence(input);
  if (values().mask) require_mask(input, inputs[1]);
  return {.outputs = {{input.n(), input.c()}}};
}

OpPtr PoolStepsOp::with_mask() const {
  return std::make_unique<PoolStepsOp>(PoolStepsAttributes{.kind = values().kind, .mask = true});
}

std::string PoolStepsOp::attributes() const {
  return fmt::format("{{kind: {}{}}}", config::word_of(values().kind),
                     values().mask ? ", mask: true" : "");
}

namespace {

OpPtr read_pool_steps(config::Fields& fields) {
  PoolStepsAttributes pool;
  fields.field("kind", pool.kind, "average, maximum or last");
  fields.field("mask", pool.mask,
               "read a mask as a second input, and leave out the steps where it is 0");
  return std::make_unique<PoolStepsOp>(pool);
}

}  // namespace

std::span<const config::Kind<Op>> pool_step_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"pool_steps", "mean, largest or last value of each channel over the steps of a sequence",
       &read_pool_steps}};
  return kinds;
}

}  // namespace trainyard
