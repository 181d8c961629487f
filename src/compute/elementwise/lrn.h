// Local response normalisation (Krizhevsky et al. 2012, section 3.3), as Caffe has it.
#pragma once

#include <array>
#include <tuple>

#include "base/math.h"
#include "compute/elementwise/element_index.h"
#include "compute/elementwise/functor_step.h"
#include "ops/norm.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The neighbours of an element: across, `reach` channels on both sides; else as many rows and
/// columns of its own channel. Elements outside the tensor count as zeros.
struct LrnWindow {
  Places at;
  std::int64_t height = 1;
  std::int64_t reach = 0;
  bool across = true;

  /// The sum of f(place) over the neighbours and the element itself, in order.
  template <class A, class F>
  TY_HD A sum(const ElementIndex& place, const F& f) const {
    A total = 0;
    if (across) {
      const std::int64_t end = least(place.c + reach + 1, at.channels);
      for (std::int64_t c = start(place.c); c < end; ++c) {
        total += f(ElementIndex{place.n, c, place.pixel, at.offset(place.n, c, place.pixel)});
      }
      return total;
    }
    const std::int64_t h = place.pixel / at.width, w = place.pixel - h * at.width;
    const std::int64_t bottom = least(h + reach + 1, height);
    const std::int64_t right = least(w + reach + 1, at.width);
    for (std::int64_t row = start(h); row < bottom; ++row) {
      for (std::int64_t column = start(w); column < right; ++column) {
        const std::int64_t pixel = row * at.width + column;
        total += f(ElementIndex{place.n, place.c, pixel, at.offset(place.n, place.c, pixel)});
      }
    }
    return total;
  }

 private:
  [[nodiscard]] TY_HD std::int64_t start(std::int64_t centre) const {
    return centre > reach ? centre - reach : 0;
  }
  [[nodiscard]] TY_HD static std::int64_t least(std::int64_t a, std::int64_t b) {
    return a < b ? a : b;
  }
};

/// y = x * s^-beta with s = k + alpha / n * (sum of x^2 over the n neighbours).
template <class T>
struct LrnPower {
  using A = Arithmetic<T>;
  LrnWindow window;
  const T* x;
  A alpha, beta, k;  // alpha: divided by n

  TY_HD A base(const ElementIndex& at) const {
    const A squares = window.template sum<A>(at, [&](const ElementIndex& near) {
      const A value = static_cast<A>(x[near.offset]);
      return value * value;
    });
    return k + alpha * squares;
  }
  TY_HD A power(A s, A exponent) const { return math::exp(exponent * math::log(s)); }
  TY_HD A operator()(const ElementIndex& at) const {
    return static_cast<A>(x[at.offset]) * power(base(at), -beta);
  }
};

/// r = dy * x * s^(-beta - 1), in the arithmetic type: the part of a neighbour's gradient that
/// comes through s.
template <class T>
struct LrnRatio {
  using A = Arithmetic<T>;
  LrnPower<T> lrn;
  const T* dy;
  TY_HD A operator()(const ElementIndex& at) const {
    const A product = static_cast<A>(dy[at.offset]) * static_cast<A>(lrn.x[at.offset]);
    return product * lrn.power(lrn.base(at), -lrn.beta - 1);
  }
};

/// dx = dy * s^-beta - 2 alpha beta / n * x * (sum of r over the neighbours). dx may be dy.
template <class T>
struct LrnGradient {
  using A = Arithmetic<T>;
  LrnPower<T> lrn;
  const T* dy;
  const A* ratio;  // at the offsets of x
  TY_HD A operator()(const ElementIndex& at) const {
    const A through = lrn.window.template sum<A>(
        at, [&](const ElementIndex& near) { return ratio[near.offset]; });
    const A own = static_cast<A>(dy[at.offset]) * lrn.power(lrn.base(at), -lrn.beta);
    return own - A(2) * lrn.alpha * lrn.beta * static_cast<A>(lrn.x[at.offset]) * through;
  }
};

struct LrnFunctors : FunctorsOf<LrnOp> {
  static constexpr std::array<std::string_view, 1> kOps{"lrn"};

  /// The ratios of every element.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    if (!step.backward()) return 0;
    return static_cast<std::size_t>(span_elements(step.inputs[0])) * sizeof(Arithmetic<T>);
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const Layout& layout = step.inputs[0];
    const LrnPower<T> lrn{window_of(layout), tensors.inputs[0].as<T>(),
                          static_cast<A>(mean_alpha()), static_cast<A>(op.values().beta),
                          static_cast<A>(op.values().k)};
    if (!step.backward()) return map_indexed<T>(launcher, tensors.outputs[0], lrn);
    const T* const dy = tensors.output_gradients[0].as<T>();
    const TensorView ratio{tensors.workspace, DTypeOf<A>::value, layout};
    map_indexed<A>(launcher, ratio, LrnRatio<T>{lrn, dy});
    map_indexed<T>(launcher, tensors.input_gradients[0], LrnGradient<T>{lrn, dy, ratio.as<A>()});
  }

 private:
  [[nodiscard]] LrnWindow window_of(const Layout& layout) const {
    return {Places(layout), layout.extent[2], (op.values().size - 1) / 2, op.values().across};
  }
  /// Alpha per element of the window.
  [[nodiscard]] double mean_alpha() const {
    const auto size = static_cast<double>(op.values().size);
    return op.values().alpha / (op.values().across ? size : size * size);
  }
};

/// The functors above.
using LrnList = std::tuple<LrnFunctors>;

}  // namespace trainyard
