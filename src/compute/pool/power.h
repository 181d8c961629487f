// Power-average pooling, for any launcher: y = (sum of |x|^p under the window)^(1 / p).
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/math.h"
#include "compute/elementwise/map.h"
#include "compute/executor.h"
#include "compute/pool/pool.h"

namespace trainyard {

/// magnitude^exponent, for magnitudes of at least 0; a NaN stays one.
template <class A>
TY_HD A raised(A magnitude, A exponent) {
  if (exponent == 0) return A(1);
  if (exponent == 1) return magnitude;
  if (exponent == 2) return magnitude * magnitude;
  return magnitude > 0 ? math::exp(exponent * math::log(magnitude)) : magnitude;
}

/// y of one channel of one window, summed row by row.
template <class T>
struct PowerPoolWindow {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* x;
  T* y;
  A p;

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.output_pack<1>(i);
    const PoolAxis::Span rows = maps.h.span(at.h), columns = maps.w.span(at.w);
    A total = A(0);
    for (std::int64_t h = rows.first; h < rows.last; ++h) {
      for (std::int64_t w = columns.first; w < columns.last; ++w) {
        const A value = static_cast<A>(x[maps.input.offset(at.n, at.c, h, w)]);
        total += raised(math::abs(value), p);
      }
    }
    const A root = p == 2 ? math::sqrt(total) : raised(total, A(1) / p);
    y[maps.output.offset(at.n, at.c, at.h, at.w)] = static_cast<T>(root);
  }
};

/// dx = the sum over the windows that cover the pixel of dy * sign(x) * (|x| / y)^(p - 1), in
/// order; windows where y is 0 give 0.
template <class T>
struct PowerPoolGradient {
  using A = Arithmetic<T>;
  PoolMaps maps;
  const T* x;
  const T* y;
  const T* dy;
  T* dx;
  A p;

  TY_HD void operator()(std::int64_t i) const {
    const PackIndex at = maps.input_pack<1>(i);
    const std::int64_t own = maps.input.offset(at.n, at.c, at.h, at.w);
    const A value = static_cast<A>(x[own]);
    const A sign = value > 0 ? A(1) : value < 0 ? A(-1) : value;  // NaN stays NaN
    A total = A(0);
    for (std::int64_t oh = maps.h.first_window(at.h); oh < maps.h.last_window(at.h); ++oh) {
      for (std::int64_t ow = maps.w.first_window(at.w); ow < maps.w.last_window(at.w); ++ow) {
        const std::int64_t window = maps.output.offset(at.n, at.c, oh, ow);
        const A root = static_cast<A>(y[window]);
        if (root == 0) continue;
        total += static_cast<A>(dy[window]) * sign * raised(math::abs(value) / root, p - A(1));
      }
    }
    dx[own] = static_cast<T>(total);
  }
};

/// Both passes.
template <class T, class Launcher>
class PowerPool final : public Executor {
 public:
  PowerPool(const StepDescription& step, const Launcher& launcher)
      : launcher_(launcher),
        backward_(step.pass == Pass::backward_data),
        p_(static_cast<Arithmetic<T>>(op_as<PoolOp>(step).values().p)),
        maps_{pool_axes(op_as<PoolOp>(step), shape_of(step.inputs[0])), step.inputs[0],
              step.outputs[0], static_cast<std::uint32_t>(step.inputs[0].extent[1])} {
    const std::int64_t largest = shape_of(backward_ ? maps_.input : maps_.output).elements();
    TY_CHECK(largest <= std::numeric_limits<std::uint32_t>::max(),
             "a pooling's elements are counted in 32 bits");
  }
  void bind(const StepTensors& tensors) override { tensors_ = tensors; }
  void run() override {
    const T* const x = tensors_.inputs[0].template as<T>();
    T* const y = tensors_.outputs[0].template as<T>();
    if (!backward_) {
      launcher_.each(shape_of(maps_.output).elements(), PowerPoolWindow<T>{maps_, x, y, p_});
      return zero_padding<T>(launcher_, tensors_.outputs[0]);
    }
    const TensorView& dx = tensors_.input_gradients[0];
    launcher_.each(
        shape_of(maps_.input).elements(),
        PowerPoolGradient<T>{maps_, x, y, tensors_.output_gradients[0].template as<const T>(),
                             dx.template as<T>(), p_});
    zero_padding<T>(launcher_, dx);
  }

 private:
  Launcher launcher_;
  bool backward_;
  Arithmetic<T> p_;
  PoolMaps maps_;
  StepTensors tensors_;
};

}  // namespace trainyard
