// Normalisations but batch norm: layer, group and instance norm, local response normalisation, and
// the learned factor and offset by themselves.
#pragma once

#include <string>

#include "ops/affine.h"
#include "ops/op_with.h"

namespace trainyard {

struct NormAttributes {
  enum class Kind { layer, group, instance } kind = Kind::group;
  std::int64_t groups = 32;  // kind group
  double eps = 1e-3;
  bool scale = true;   // gamma
  bool center = true;  // beta
};
[[nodiscard]] constexpr config::Words<NormAttributes::Kind> words(NormAttributes::Kind) {
  return {"layer_norm", "group_norm", "instance_norm"};
}

/// [n, c] or [n, c, h, w] to the same shape. YAML names: layer_norm, over the channels of each
/// pixel (Keras, ConvNeXt); group_norm, over neighbouring channels of a whole map; instance_norm,
/// over each channel of a map. Parameters: gamma and beta (each [c], if enabled). In training the
/// means and factors are kept in the reserve.
class NormOp final : public OpWith<NormAttributes, ChannelParameterOp> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] bool over_pixels() const { return values().kind == NormAttributes::Kind::layer; }
  [[nodiscard]] std::int64_t groups_of(std::int64_t channels) const;
  [[nodiscard]] std::string_view type() const override { return config::word_of(values().kind); }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] bool keeps_steps() const override { return over_pixels(); }

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;
};

struct LrnAttributes {
  std::int64_t size = 5;  // size of the window: odd
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
  bool across = true;  // neighbours are channels, else pixels of the same channel
};

/// [n, c, h, w] to the same shape. The window has n = size channels or n = size * size pixels.
class LrnOp final : public OpWith<LrnAttributes> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] std::string_view type() const override { return "lrn"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;
};

struct ScaleAttributes {
  bool center = true;  // beta
  double gamma = 1;    // its initial value
};

/// Any shape to the same shape. Parameters: gamma and, with center, beta, each [c].
class ScaleOp final : public OpWith<ScaleAttributes, ChannelParameterOp> {
 public:
  using OpWith::OpWith;
  [[nodiscard]] std::string_view type() const override { return "scale"; }
  [[nodiscard]] std::string attributes() const override;

 protected:
  [[nodiscard]] std::vector<ParameterSpec> parameters(std::int64_t channels) const override;
};

/// The ops above, in the order of the reference.
[[nodiscard]] std::span<const config::Kind<Op>> norm_kinds();

}  // namespace trainyard
