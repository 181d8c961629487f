// Additive normal noise, in training alone. As in dropout, four neighbours in the logical order c,
// h, w of a sample share a draw.
#pragma once

#include <string>

#include "base/normal.h"
#include "ops/dropout.h"

namespace trainyard {

/// x + deviation * z with z from a standard normal distribution.
template <class T>
struct Noisy {
  using A = Arithmetic<T>;
  A deviation;
  TY_HD T operator()(T x, std::uint32_t drawn) const {
    return static_cast<T>(static_cast<A>(x) + deviation * math::normal_of<A>(drawn));
  }
};

struct GaussianNoiseAttributes {
  double stddev = 0.1;  // standard deviation
};

/// Any shape to the same shape. forward_eval copies.
class GaussianNoiseOp final : public Op {
 public:
  static constexpr bool kElementwise = true;

  explicit GaussianNoiseOp(GaussianNoiseAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "gaussian_noise"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    if (step.pass != Pass::forward_train) {
      map<T, T>(launcher, step.walk, Copy{}, in, out);
      return;
    }
    const DropoutMask mask{.batch = tensors.batch, .node = step.node, .threshold = 0};
    const Noisy<T> noisy{static_cast<Arithmetic<T>>(attributes_.stddev)};
    change_by_draws<T>(launcher, mask, noisy, in, out);
  }

 private:
  GaussianNoiseAttributes attributes_;
};

void declare(config::Fields& fields, GaussianNoiseAttributes& noise);
[[nodiscard]] config::Kind<Op> gaussian_noise_kind();

}  // namespace trainyard
