// Activations: y = f(x), one element at a time; and softmax over channels.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/math.h"
#include "compute/elementwise/functor_step.h"
#include "compute/elementwise/map.h"
#include "ops/activation.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The forward pass of a function as a body of map().
template <class Function>
struct ActivationValue {
  static constexpr bool kKeepsZero = Function::kKeepsZero;
  Function function;
  template <class T>
  TY_HD T operator()(T x) const {
    return function.value(x);
  }
};

/// Its backward pass: dx from dy and the kept output or input.
template <class Function>
struct ActivationGradient {
  static constexpr bool kKeepsZero = true;
  Function function;
  template <class T>
  TY_HD T operator()(T dy, T kept) const {
    return function.gradient(dy, kept);
  }
};

template <class Function>
struct ActivationFunctors : FunctorsOf<ActivationOp<Function>> {
  static constexpr std::array<std::string_view, 1> kOps{Function::kName};
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (!step.backward()) {
      map<T, T>(launcher, step.walk, ActivationValue<Function>{this->op.values()},
                tensors.inputs[0], tensors.outputs[0]);
      return;
    }
    const TensorView& kept = kept_of(tensors);
    map<T>(launcher, step.walk, ActivationGradient<Function>{this->op.values()},
           tensors.output_gradients[0], kept, tensors.input_gradients[0]);
  }

 private:
  static const TensorView& kept_of(const StepTensors& tensors) {
    if (std::is_same_v<Function, Identity>) return tensors.output_gradients[0];
    return Function::kReadsOutput ? tensors.outputs[0] : tensors.inputs[0];
  }
};

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
  Layout out, in;  // layouts of y and dy, of dx
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

struct SoftmaxFunctors : FunctorsOf<SoftmaxOp> {
  static constexpr std::array<std::string_view, 1> kOps{"softmax"};

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

template <class... Functions>
std::tuple<SoftmaxFunctors, ActivationFunctors<Functions>...> list_activations(
    std::tuple<Functions...>);

/// Softmax and every activation.
using ActivationList = decltype(list_activations(std::declval<Activations>()));

}  // namespace trainyard
