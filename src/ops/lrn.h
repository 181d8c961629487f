// Local response normalisation (Krizhevsky et al. 2012, section 3.3), as Caffe has it.
#pragma once

#include <string>

#include "base/math.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/places.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The neighbours of an element: across, `reach` channels on both sides; else as many rows and
/// columns of its own channel. Those outside the tensor count as zeros.
struct LrnWindow {
  Places at;
  std::int64_t height = 1;
  std::int64_t reach = 0;
  bool across = true;

  /// The sum of f(place) over the neighbours and the element itself, in order.
  template <class A, class F>
  TY_HD A sum(const Place& place, const F& f) const {
    A total = 0;
    if (across) {
      const std::int64_t end = least(place.c + reach + 1, at.channels);
      for (std::int64_t c = start(place.c); c < end; ++c) {
        total += f(Place{place.n, c, place.pixel, at.offset(place.n, c, place.pixel)});
      }
      return total;
    }
    const std::int64_t h = place.pixel / at.width, w = place.pixel - h * at.width;
    const std::int64_t bottom = least(h + reach + 1, height);
    const std::int64_t right = least(w + reach + 1, at.width);
    for (std::int64_t row = start(h); row < bottom; ++row) {
      for (std::int64_t column = start(w); column < right; ++column) {
        const std::int64_t pixel = row * at.width + column;
        total += f(Place{place.n, place.c, pixel, at.offset(place.n, place.c, pixel)});
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

  TY_HD A base(const Place& at) const {
    const A squares = window.template sum<A>(at, [&](const Place& near) {
      const A value = static_cast<A>(x[near.offset]);
      return value * value;
    });
    return k + alpha * squares;
  }
  TY_HD A power(A s, A exponent) const { return math::exp(exponent * math::log(s)); }
  TY_HD A operator()(const Place& at) const {
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
  TY_HD A operator()(const Place& at) const {
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
  TY_HD A operator()(const Place& at) const {
    const A through =
        lrn.window.template sum<A>(at, [&](const Place& near) { return ratio[near.offset]; });
    const A own = static_cast<A>(dy[at.offset]) * lrn.power(lrn.base(at), -lrn.beta);
    return own - A(2) * lrn.alpha * lrn.beta * static_cast<A>(lrn.x[at.offset]) * through;
  }
};

struct LrnAttributes {
  std::int64_t size = 5;  // of the window: odd
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
  bool across = true;  // neighbours are channels, else pixels of the same channel
};

/// [n, c, h, w] to the same shape. The window has n = size channels or n = size * size pixels.
class LrnOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit LrnOp(LrnAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "lrn"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;
  [[nodiscard]] std::string attributes() const override;

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
                          static_cast<A>(divided_alpha()), static_cast<A>(attributes_.beta),
                          static_cast<A>(attributes_.k)};
    if (!step.backward()) return map_places<T>(launcher, tensors.outputs[0], lrn);
    const T* const dy = tensors.output_gradients[0].as<T>();
    const TensorView ratio{tensors.workspace, DTypeOf<A>::value, layout};
    map_places<A>(launcher, ratio, LrnRatio<T>{lrn, dy});
    map_places<T>(launcher, tensors.input_gradients[0], LrnGradient<T>{lrn, dy, ratio.as<A>()});
  }

 private:
  [[nodiscard]] LrnWindow window_of(const Layout& layout) const;
  [[nodiscard]] double divided_alpha() const;

  LrnAttributes attributes_;
};

void declare(config::Fields& fields, LrnAttributes& lrn);
[[nodiscard]] config::Kind<Op> lrn_kind();

}  // namespace trainyard
