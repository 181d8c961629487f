#include "ops/bn.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/affine.h"
#include "ops/expect.h"

namespace trainyard {
namespace {

using RunningVariance = BnAttributes::RunningVariance;

/// Factor from the biased variance of `count` values to the running one. A single value has
/// variance 0, so any factor will do.
double variance_scale(const BnAttributes& bn, std::int64_t count) {
  if (count < 2) return 1;
  const double n = static_cast<double>(count);
  switch (bn.running_var) {
    case RunningVariance::biased:
      break;
    case RunningVariance::unbiased:
      return n / (n - 1);
    case RunningVariance::keras:
      return n / (n - 1 - bn.eps);
  }
  return 1;
}

/// What the frameworks' layers do by default.
void set_conventions(config::Profile profile, BnAttributes& bn) {
  switch (profile) {
    case config::Profile::keras2:
      return;
    case config::Profile::mxnet:
      bn.momentum = 0.9;
      bn.scale = false;  // fix_gamma
      return;
    case config::Profile::caffe:
      bn.momentum = 0.999;
      bn.scale = bn.center = false;  // its Scale layer has them
      break;
    case config::Profile::torch:
      break;
  }
  bn.eps = 1e-5;
  bn.running_var = RunningVariance::unbiased;
}

}  // namespace

Signature BnOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  require_features_or_images(input);
  if (attributes_.residual && inputs[1] != input) {
    throw ShapeError(fmt::format("adds {} to its own {}; both must have the same shape",
                                 inputs[1].text(), input.text()));
  }
  const std::int64_t channels = input.c();
  Signature signature;
  signature.outputs = {input};
  signature.parameters =
      affine_parameters(channels, attributes_.scale, attributes_.center, attributes_.gamma);
  const double momentum = attributes_.fixed ? 1 : attributes_.momentum;
  const std::int64_t samples = input.n() * (attributes_.sync ? attributes_.replicas : 1);
  signature.statistics = {
      {.name = "running_mean",
       .shape = {channels},
       .initial = 0,
       .momentum = momentum,
       .batch_scale = 1},
      {.name = "running_var",
       .shape = {channels},
       .initial = 1,
       .momentum = momentum,
       .batch_scale = variance_scale(attributes_, samples * input.h() * input.w())}};
  return signature;
}

Contract BnOp::contract() const {
  return {.backward_reads_first_input = true,
          .backward_reads_outputs = attributes_.relu,  // positive where the ReLU was open
          .synced_backward = true,
          .in_place_backward = true,
          // The residual's gradient is the output's, masked; the input's is computed from it in a
          // second pass.
          .in_place_gradient = attributes_.residual ? 1 : 0,
          .keeps_steps = true,
          // A residual would have to be kept too, to recompute the output.
          .can = attributes_.residual ? Cans{Can::write_slices}
                                      : Cans{Can::write_slices, Can::add_gradient, Can::recompute,
                                             Can::join_siblings},
          .layouts = Contract::Layouts::same};
}

OpPtr BnOp::with_relu() const {
  if (attributes_.relu) return nullptr;
  BnAttributes attributes = attributes_;
  attributes.relu = true;
  return std::make_unique<BnOp>(attributes);
}

OpPtr BnOp::with_sum_and_relu() const {
  if (attributes_.relu) return nullptr;
  BnAttributes attributes = attributes_;
  attributes.relu = attributes.residual = true;
  return std::make_unique<BnOp>(attributes);
}

OpPtr BnOp::with_fixed_statistics() const {
  BnAttributes attributes = attributes_;
  attributes.fixed = true;
  attributes.sync = false;
  return std::make_unique<BnOp>(attributes);
}

std::string BnOp::attributes() const {
  const BnAttributes& bn = attributes_;
  return fmt::format(
      "{{momentum: {}, eps: {}, scale: {}, center: {}, running_var: {}, sync: {}{}{}{}{}}}",
      number_text(bn.momentum), number_text(bn.eps), bn.scale, bn.center,
      config::word_of(bn.running_var), bn.sync,
      bn.gamma == 1 ? "" : ", gamma: " + number_text(bn.gamma), bn.relu ? ", relu: true" : "",
      bn.residual ? ", residual: true" : "", bn.fixed ? ", fixed: true" : "");
}

void declare(config::Fields& fields, BnAttributes& bn) {
  const bool torch = fields.profile() == config::Profile::torch;
  set_conventions(fields.profile(), bn);
  double written = torch ? 0.1 : bn.momentum;
  fields.field("momentum", written,
               torch ? "weight of the new statistics, as in PyTorch"
                     : "weight of the old running statistics",
               {.minimum = 0, .maximum = 1});
  fields.field("eps", bn.eps, "added to the variance inside the square root",
               {.minimum = 0, .exclusive_minimum = true});
  fields.field("scale", bn.scale, "learn a factor per channel (gamma)");
  fields.field("center", bn.center, "learn an offset per channel (beta)");
  fields.field("gamma", bn.gamma, "the initial factor of each channel");
  fields.field("running_var", bn.running_var,
               "how the batch variance enters the running one: biased, unbiased (n / (n - 1)) or "
               "keras (n / (n - 1 - eps))");
  fields.field("sync", bn.sync,
               "mean and variance over the batches of all replicas, as for one replica with the "
               "whole batch; else each replica normalises by its own batch");
  bn.momentum = torch ? 1 - written : written;
}

std::span<const config::Kind<Op>> bn_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"bn", "batch normalisation per channel", &read_op<BnOp, BnAttributes>},
  };
  return kinds;
}

}  // namespace trainyard
