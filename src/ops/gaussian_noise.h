// Additive normal noise, in training alone.
#pragma once

#include <string>

#include "base/normal.h"
#include "ops/dropout.h"
#include "ops/places.h"

namespace trainyard {

/// y = x + deviation * z with z from a standard normal distribution. As in dropout, four neighbours
/// in the logical order c, h, w of a sample share a draw.
template <class T>
struct NoisySum {
  using A = Arithmetic<T>;
  const T* x;
  Places from;
  DropoutMask mask;  // its threshold is not used
  A deviation;

  TY_HD A operator()(const Place& at) const {
    const auto position = static_cast<std::uint32_t>(at.c * from.pixels + at.pixel);
    const Random4 draw = DropoutMask::draw(mask.sample(at.n), position / 4);
    const std::uint32_t lane = position % 4;
    const std::uint32_t word = lane == 0   ? draw.word[0]
                               : lane == 1 ? draw.word[1]
                               : lane == 2 ? draw.word[2]
                                           : draw.word[3];
    const A value = x[from.offset(at.n, at.c, at.pixel)];
    return value + deviation * math::normal_of<A>(word);
  }
};

struct GaussianNoiseAttributes {
  double stddev = 0.1;  // standard deviation
};

/// Any shape to the same shape. forward_eval copies.
class GaussianNoiseOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit GaussianNoiseOp(GaussianNoiseAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "gaussian_noise"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const bool noisy = step.pass == Pass::forward_train;
    const DropoutMask mask{.batch = tensors.batch, .node = step.node, .threshold = 0};
    map_places<T>(launcher, out,
                  NoisySum<T>{in.as<T>(), Places(in.layout), mask,
                              static_cast<A>(noisy ? attributes_.stddev : 0)});
  }

 private:
  GaussianNoiseAttributes attributes_;
};

void declare(config::Fields& fields, GaussianNoiseAttributes& noise);
[[nodiscard]] config::Kind<Op> gaussian_noise_kind();

}  // namespace trainyard
