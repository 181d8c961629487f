// Batch norm as functors over rows of channels, for devices without a library that does it (GPUs).
//
// Forward reads x twice: once for the sums of each channel, once to normalise. Backward reads x and
// dy twice. Sums are taken by the launcher's columns(), in its fixed order and in double, so that
// the mean of squares minus the square of the mean loses nothing that a float could hold: the
// result does not depend on threads or blocks, and one pass gives mean and variance. With other
// replicas to join, columns() leaves the sums, and Settle continues from those of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/half.h"
#include "exec/functor/bn_formulas.h"
#include "exec/functor/channel_rows.h"
#include "kernels/launch.h"

namespace trainyard {

/// Batch statistics: a column is a channel.
template <class T>
struct BatchMoments {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  ChannelRows rows;
  const T* x;
  SettleMoments<A> settle;

  TY_HD PairSum operator()(std::int64_t row, std::int64_t c) const {
    if (c >= rows.channels) return {};
    const double value = static_cast<A>(x[rows.offset(row) + c * rows.channel_stride]);
    return {value, value * value};
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const { settle.finish(c, sums, 0); }
};

/// y = bn(x), plus the residual if there is one, clamped at 0 with relu (NaN stays NaN). One call
/// does P channels of a row.
template <class T, int P>
struct NormaliseRows {
  using A = Arithmetic<T>;
  ChannelRows from, to;
  const T* x;
  const T* residual;  // same layout as x, or null
  T* y;
  ChannelFactors<A> channels;
  bool relu;

  TY_HD void operator()(std::int64_t i) const {
    const std::uint32_t packs = static_cast<std::uint32_t>(to.padded / P);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    const std::int64_t c = (static_cast<std::uint32_t>(i) - row * packs) * P;
    const std::int64_t in = from.offset(row) + c * from.channel_stride;
    Pack<T, P> out{};
    if (P > 1 || c < from.channels) {
      const Pack<T, P> value = load_pack<T, P>(x + in);
      const Pack<T, P> added = residual == nullptr ? Pack<T, P>{} : load_pack<T, P>(residual + in);
      for (int k = 0; k < P; ++k) {
        A sum = channels[c + k].normalised(static_cast<A>(value.value[k]));
        if (residual != nullptr) sum += static_cast<A>(added.value[k]);
        out.value[k] = static_cast<T>(relu ? clamped(sum) : sum);
      }
    }
    store_pack<T, P>(y + to.offset(row) + c * to.channel_stride, out);
  }
};

/// The gradient of the sum before a ReLU: that of a residual, and the dy of the second pass.
template <class T>
struct ResidualGradient {
  const T* y = nullptr;   // same layout as dy; null: no residual
  T* gradient = nullptr;  // same layout as x, may be dy; null: not needed
};

/// The inputs of both passes of the gradient.
template <class T>
struct GradientRows {
  using A = Arithmetic<T>;
  ChannelRows input, output;  // of x and dx, of dy
  const T* x;
  const T* dy;
  ChannelFactors<A> channels;
  bool relu;

  /// dy where the ReLU was open, else 0.
  TY_HD A open(A value, A gradient, std::int64_t c) const {
    return relu ? behind_relu(channels[c].normalised(value), gradient) : gradient;
  }
};

/// Sums over the batch of dy and of dy * (x - mean). A column is a channel.
template <class T>
struct GradientSums {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  GradientRows<T> tensors;
  ResidualGradient<T> residual;
  SettleGradients<A> settle;

  TY_HD PairSum operator()(std::int64_t row, std::int64_t c) const {
    const ChannelRows& in = tensors.input;
    const std::int64_t at = in.offset(row) + c * in.channel_stride;
    if (c >= in.channels) {
      if (c < in.padded) keep(at, A(0));
      return {};
    }
    const A value = static_cast<A>(tensors.x[at]);
    const A open = open_gradient(row, c, value);
    keep(at, open);
    return {static_cast<double>(open),
            static_cast<double>(open) * static_cast<double>(value - tensors.channels[c].mean)};
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const { settle.finish(c, sums); }

 private:
  /// dy where the ReLU was open, else 0.
  TY_HD A open_gradient(std::int64_t row, std::int64_t c, A value) const {
    const std::int64_t at = tensors.output.offset(row) + c * tensors.output.channel_stride;
    const A gradient = static_cast<A>(tensors.dy[at]);
    if (residual.y == nullptr) return tensors.open(value, gradient, c);
    return behind_relu(static_cast<A>(residual.y[at]), gradient);
  }
  TY_HD void keep(std::int64_t at, A gradient) const {
    if (residual.gradient != nullptr) residual.gradient[at] = static_cast<T>(gradient);
  }
};

/// The gradient of x; dx may be dy. One call does P channels of a row.
template <class T, int P>
struct InputGradientRows {
  using A = Arithmetic<T>;
  GradientRows<T> tensors;
  GradientFactors<A> factors;
  T* dx;

  TY_HD void operator()(std::int64_t i) const {
    const ChannelRows &in = tensors.input, &out = tensors.output;
    const std::uint32_t packs = static_cast<std::uint32_t>(in.padded / P);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    const std::int64_t c = (static_cast<std::uint32_t>(i) - row * packs) * P;
    const std::int64_t at = in.offset(row) + c * in.channel_stride;
    Pack<T, P> result{};
    if (P > 1 || c < out.channels) {
      const Pack<T, P> value = load_pack<T, P>(tensors.x + at);
      const Pack<T, P> gradient =
          load_pack<T, P>(tensors.dy + out.offset(row) + c * out.channel_stride);
      for (int k = 0; k < P; ++k) {
        const A own = static_cast<A>(value.value[k]);
        const A open = tensors.open(own, static_cast<A>(gradient.value[k]), c + k);
        result.value[k] =
            static_cast<T>(input_gradient(tensors.channels[c + k], factors[c + k], own, open));
      }
    }
    store_pack<T, P>(dx + at, result);
  }
};

}  // namespace trainyard
