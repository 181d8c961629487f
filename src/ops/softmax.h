// Softmax over channels.
#pragma once

#include "base/math.h"
#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Splits a row number into n, h, w.
struct PixelIndex {
  std::int64_t n, h, w;
  TY_HD PixelIndex(const Layout& layout, std::int64_t row)
      : n(row / layout.extent[3] / layout.extent[2]),
        h(row / layout.extent[3] % layout.extent[2]),
        w(row % layout.extent[3]) {}
};

/// y_c = e^(x_c - max) / sum of e^(x_k - max). A row is a pixel.
template <class T>
struct SoftmaxValue {
  const T* x;
  T* y;
  Layout in, out;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    using A = Arithmetic<T>;
    const PixelIndex at(in, row);
    const std::int64_t channels = in.extent[1];
    const auto value = [&](std::int64_t c) -> A { return x[in.offset(at.n, c, at.h, at.w)]; };
    const A top = team.template max<A>(channels, -math::kInfinity<A>, value);
    const A sum =
        team.template sum<A>(channels, [&](std::int64_t c) { return math::exp(value(c) - top); });
    team.each(channels, [&](std::int64_t c) {
      y[out.offset(at.n, c, at.h, at.w)] = static_cast<T>(math::exp(value(c) - top) / sum);
    });
  }
};

/// dx_c = y_c * (dy_c - sum of dy_k y_k). A row is a pixel. dx may be dy.
template <class T>
struct SoftmaxGradient {
  const T* y;
  const T* dy;
  T* dx;
  Layout out, in;  // of y and dy, of dx
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    using A = Arithmetic<T>;
    const PixelIndex at(out, row);
    const auto from = [&](std::int64_t c) { return out.offset(at.n, c, at.h, at.w); };
    const A dot = team.template sum<A>(out.extent[1], [&](std::int64_t c) -> A {
      return static_cast<A>(dy[from(c)]) * static_cast<A>(y[from(c)]);
    });
    team.each(out.extent[1], [&](std::int64_t c) {
      const A value = static_cast<A>(y[from(c)]) * (static_cast<A>(dy[from(c)]) - dot);
      dx[in.offset(at.n, c, at.h, at.w)] = static_cast<T>(value);
    });
  }
};

/// Any shape to the same shape; channels of a pixel (or sample) sum to 1.
class SoftmaxOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] std::string_view type() const override { return "softmax"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& y = tensors.outputs[0];
    const Layout& layout = y.layout;
    const std::int64_t rows = layout.extent[0] * layout.extent[2] * layout.extent[3];
    if (!step.backward()) {
      const TensorView& x = tensors.inputs[0];
      launcher.rows(rows, SoftmaxValue<T>{x.as<T>(), y.as<T>(), x.layout, layout});
      zero_padding<T>(launcher, y);
      return;
    }
    const TensorView& dy = tensors.output_gradients[0];
    const TensorView& dx = tensors.input_gradients[0];
    launcher.rows(rows, SoftmaxGradient<T>{y.as<T>(), dy.as<T>(), dx.as<T>(), layout, dx.layout});
    zero_padding<T>(launcher, dx);
  }
};

[[nodiscard]] config::Kind<Op> softmax_kind();

}  // namespace trainyard
