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
std::unique_ptr<Op> read_norm(config::Fields& fields) {
  NormAttributes attributes;
  attributes.kind = kind;
  declare_norm(fields, attributes);
  return std::make_unique<NormOp>(attributes);
}

}  // namespace

std::string_view NormOp::type() const {
  switch (attributes_.kind) {
    case NormKind::layer:
      return "layer_norm";
    case NormKind::group:
      return "group_norm";
    case NormKind::instance:
      break;
  }
  return "instance_norm";
}

std::int64_t NormOp::groups_of(std::int64_t channels) const {
  switch (attributes_.kind) {
    case NormKind::layer:
      return 1;
    case NormKind::group:
      return attributes_.groups;
    case NormKind::instance:
      break;
  }
  return channels;
}

std::size_t NormOp::sum_bytes(const FunctorStep& step) const {
  if (over_pixels()) return ChannelParameterOp::workspace_bytes<float>(step);
  return map_sum_bytes(shape_of(step.inputs[0]));
}

Signature NormOp::infer(std::span<const Shape> inputs) const {
  const Shape& input = inputs[0];
  Signature signature = ChannelParameterOp::infer(inputs);
  const std::int64_t groups = groups_of(input.c());
  require_groups("input channels", input.c(), groups);
  const std::int64_t pixels = attributes_.kind == NormKind::layer ? 1 : input.h() * input.w();
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
  return affine_parameters(channels, attributes_.scale, attributes_.center);
}

std::string NormOp::attributes() const {
  const NormAttributes& norm = attributes_;
  const std::string groups =
      norm.kind == NormKind::group ? fmt::format("groups: {}, ", norm.groups) : "";
  return fmt::format("{{{}eps: {}, scale: {}, center: {}}}", groups, number_text(norm.eps),
                     norm.scale, norm.center);
}

config::Kind<Op> layer_norm_kind() {
  return {"layer_norm", "normalisation over the channels of each pixel",
          &read_norm<NormKind::layer>};
}

config::Kind<Op> group_norm_kind() {
  return {"group_norm", "normalisation over groups of channels of a map",
          &read_norm<NormKind::group>};
}

config::Kind<Op> instance_norm_kind() {
  return {"instance_norm", "normalisation over each channel of a map",
          &read_norm<NormKind::instance>};
}

}  // namespace trainyard
