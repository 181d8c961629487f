#include "ops/norm.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/expect.h"
#include "ops/window.h"

namespace trainyard {

namespace {

using NormKind = NormAttributes::Kind;

void declare_norm(config::Fields& fields, NormAttributes& norm) {
  const bool torch = fields.profile() == config::Profile::torch;
  const bool mxnet = fields.profile() == config::Profile::mxnet;
  // mx.nd.InstanceNorm has 1e-3.
  if (torch || (mxnet && norm.kind != NormKind::instance)) norm.eps = 1e-5;
  // torch.nn.InstanceNorm2d learns nothing unless asked.
  norm.scale = norm.center = !(torch && norm.kind == NormKind::instance);
  if (norm.kind == NormKind::group) {
    fields.field("groups", norm.groups, "number of groups of neighbouring channels",
                 {.minimum = 1, .maximum = kMostChannels});
  }
  fields.field("eps", norm.eps, "added to the variance inside the square root",
               {.minimum = 0, .exclusive_minimum = true});
  fields.field("scale", norm.scale, "learn a factor per channel (gamma)");
  fields.field("center", norm.center, "learn an offset per channel (beta)");
}

template <NormKind kind>
OpPtr read_norm(config::Fields& fields) {
  NormAttributes attributes;
  attributes.kind = kind;
  declare_norm(fields, attributes);
  return std::make_unique<NormOp>(attributes);
}

}  // namespace

std::int64_t NormOp::groups_of(std::int64_t channels) const {
  if (values().kind == NormKind::group) return values().groups;
  return values().kind == NormKind::layer ? 1 : channels;
}

Signature NormOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  Signature signature = ChannelParameterOp::infer(inputs);
  const std::int64_t groups = groups_of(input.c());
  require_groups("input channels", input.c(), groups);
  const std::int64_t pixels = values().kind == NormKind::layer ? 1 : input.h() * input.w();
  if (input.c() / groups * pixels < 2) {
    throw ShapeError(fmt::format(
        "normalises single values of {}, which gives zeros; it needs at least 2 values together",
        input.text()));
  }
  const std::int64_t parts = over_pixels() ? input.h() * input.w() : input.c();
  signature.saved_bytes = size_product({input.n(), parts, 2, sizeof(double)});
  if (!over_pixels()) signature.workspace_bytes = static_cast<std::int64_t>(map_sum_bytes(input));
  signature.workspace_bytes += signature.saved_bytes;
  return signature;
}

std::vector<ParameterSpec> NormOp::parameters(std::int64_t channels) const {
  return affine_parameters(channels, values().scale, values().center);
}

std::string NormOp::attributes() const {
  const NormAttributes& norm = values();
  const std::string groups =
      norm.kind == NormKind::group ? fmt::format("groups: {}, ", norm.groups) : "";
  return fmt::format("{{{}eps: {}, scale: {}, center: {}}}", groups, number_text(norm.eps),
                     norm.scale, norm.center);
}

Signature LrnOp::infer(std::span<const Shape> inputs) const {
  require_images(inputs[0]);
  Signature signature;
  signature.outputs = {inputs[0]};
  signature.workspace_bytes = size_product({most_elements(inputs[0]), sizeof(double)});
  return signature;
}

Contract LrnOp::contract() const {
  return {.backward_reads_inputs = true, .in_place_backward = true};
}

std::string LrnOp::attributes() const {
  const LrnAttributes& lrn = values();
  return fmt::format("{{size: {}, alpha: {}, beta: {}, k: {}, across: {}}}", lrn.size,
                     number_text(lrn.alpha), number_text(lrn.beta), number_text(lrn.k), lrn.across);
}

void declare(config::Fields& fields, LrnAttributes& lrn) {
  if (fields.profile() == config::Profile::mxnet) lrn.k = 2;
  fields.field("size", lrn.size, "channels, or rows and columns, of the window; odd",
               {.minimum = 1, .maximum = 255});
  fields.field("alpha", lrn.alpha, "factor of the mean square in the window", {.minimum = 0});
  fields.field("beta", lrn.beta, "exponent", {.minimum = 0});
  fields.field("k", lrn.k, "added to the mean square", {.minimum = 0, .exclusive_minimum = true});
  fields.field("across", lrn.across,
               "the window is over channels; false: over the pixels of each channel");
  if (lrn.size % 2 == 0) {
    fields.error("size", fmt::format("'size' must be odd, found {}", lrn.size));
    ++lrn.size;
  }
}

std::vector<ParameterSpec> ScaleOp::parameters(std::int64_t channels) const {
  return affine_parameters(channels, true, values().center, values().gamma);
}

std::string ScaleOp::attributes() const {
  const std::string gamma = values().gamma == 1 ? "" : ", gamma: " + number_text(values().gamma);
  return (values().center ? "{center: true" : "{center: false") + gamma + "}";
}

void declare(config::Fields& fields, ScaleAttributes& scale) {
  fields.field("center", scale.center, "learn an offset per channel (beta)");
  fields.field("gamma", scale.gamma, "the initial factor of each channel");
}

std::span<const config::Kind<Op>> norm_kinds() {
  static const config::Kind<Op> kinds[] = {
      {"layer_norm", "normalisation over the channels of each pixel", &read_norm<NormKind::layer>},
      {"group_norm", "normalisation over groups of channels of a map", &read_norm<NormKind::group>},
      {"instance_norm", "normalisation over each channel of a map", &read_norm<NormKind::instance>},
      {"lrn", "local response normalisation, as in Caffe", &read_op<LrnOp, LrnAttributes>},
      {"scale", "a learned factor and offset per channel", &read_op<ScaleOp, ScaleAttributes>},
  };
  return kinds;
}

}  // namespace trainyard
