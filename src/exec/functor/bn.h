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
#include "base/math.h"
#include "exec/batch_sums.h"
#include "exec/functor/channel_rows.h"
#include "kernels/launch.h"
#include "ops/bn.h"

namespace trainyard {

/// Per-channel constants, one element per channel, padding included (0 there, so that padding stays
/// 0).
template <class A>
struct ChannelFactors {
  A* mean;
  A* factor;  // gamma / sqrt(variance + eps)
  A* offset;  // beta

  /// bn(x) before the ReLU. Shared by forward and backward, so that backward recomputes the ReLU's
  /// sign without reading the output.
  TY_HD A normalised(A x, std::int64_t c) const { return (x - mean[c]) * factor[c] + offset[c]; }
};

/// The learned parameters and the output of the factors.
template <class A>
struct MakeChannelFactors {
  const A* gamma;  // or null: 1
  const A* beta;   // or null: 0
  A eps;
  std::int64_t channels;
  ChannelFactors<A> out;

  TY_HD void set(std::int64_t c, A mean, A variance) const {
    const bool padding = c >= channels;
    const A scale = padding ? A(0) : gamma != nullptr ? gamma[c] : A(1);
    out.mean[c] = mean;
    out.factor[c] = scale / math::sqrt(variance + eps);
    out.offset[c] = padding || beta == nullptr ? A(0) : beta[c];
  }
};

/// Factors from the running statistics. Called once per channel.
template <class A>
struct RunningFactors {
  MakeChannelFactors<A> factors;
  const A* mean;
  const A* variance;
  TY_HD void operator()(std::int64_t c) const {
    const bool padding = c >= factors.channels;
    factors.set(c, padding ? A(0) : mean[c], padding ? A(1) : variance[c]);
  }
};

/// Continues from the sums of all replicas, stored at f.joint. Called once per channel.
template <class F>
struct Settle {
  F f;
  TY_HD void operator()(std::int64_t c) const { f.settle(c, f.joint[c]); }
};

/// Batch statistics: a column is a channel.
template <class T>
struct BatchMoments {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  ChannelRows rows;
  const T* x;
  A* batch_mean;
  A* batch_variance;
  MakeChannelFactors<A> factors;
  double count;    // values per channel, of all replicas
  PairSum* joint;  // [padded], or null: one replica

  TY_HD PairSum operator()(std::int64_t row, std::int64_t c) const {
    if (c >= rows.channels) return {};
    const double value = static_cast<A>(x[rows.offset(row) + c * rows.channel_stride]);
    return {value, value * value};
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const {
    if (joint == nullptr) return settle(c, sums);
    joint[c] = sums;
  }
  TY_HD void settle(std::int64_t c, const PairSum& sums) const {
    const Moments moments = moments_of(sums, count);
    const A mean = static_cast<A>(moments.mean), variance = static_cast<A>(moments.variance);
    if (c < rows.channels) {
      batch_mean[c] = mean;
      batch_variance[c] = variance;
    }
    factors.set(c, mean, variance);
  }
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
        A sum = channels.normalised(static_cast<A>(value.value[k]), c + k);
        if (residual != nullptr) sum += static_cast<A>(added.value[k]);
        out.value[k] = static_cast<T>(relu && sum < 0 ? A(0) : sum);
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
    return relu && !(channels.normalised(value, c) > 0) ? A(0) : gradient;
  }
};

/// Sums over the batch of dy and of dy * (x - mean) (Ioffe and Szegedy 2015, section 3): the
/// parameters' gradients from the replica's own sums, the factors of the input's gradient from
/// those of all. A column is a channel.
template <class T>
struct GradientSums {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  GradientRows<T> tensors;
  ResidualGradient<T> residual;
  const A* variance;
  A eps;
  A* gamma_gradient;  // or null
  A* beta_gradient;   // or null
  A* mean_gradient;   // [padded], mean of dy
  A* slope;           // [padded], mean of dy * (x - mean), over variance + eps
  double count;       // values per channel, of all replicas
  PairSum* joint;     // [padded], or null: one replica

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
            static_cast<double>(open) * static_cast<double>(value - tensors.channels.mean[c])};
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const {
    if (joint == nullptr) {
      settle(c, sums);
    } else {
      joint[c] = sums;
    }
    if (is_padding(c)) return;
    if (beta_gradient != nullptr) beta_gradient[c] = static_cast<A>(sums.first);
    if (gamma_gradient != nullptr) {
      gamma_gradient[c] = static_cast<A>(sums.second / math::sqrt(spread(c)));
    }
  }
  TY_HD void settle(std::int64_t c, const PairSum& sums) const {
    mean_gradient[c] = static_cast<A>(sums.first / count);
    slope[c] = static_cast<A>(sums.second / count / spread(c));
  }

 private:
  TY_HD bool is_padding(std::int64_t c) const { return c >= tensors.input.channels; }
  TY_HD double spread(std::int64_t c) const {
    return is_padding(c) ? 1 : static_cast<double>(variance[c]) + eps;
  }
  /// dy where the ReLU was open, else 0.
  TY_HD A open_gradient(std::int64_t row, std::int64_t c, A value) const {
    const std::int64_t at = tensors.output.offset(row) + c * tensors.output.channel_stride;
    const A gradient = static_cast<A>(tensors.dy[at]);
    if (residual.y == nullptr) return tensors.open(value, gradient, c);
    return static_cast<A>(residual.y[at]) > 0 ? gradient : A(0);
  }
  TY_HD void keep(std::int64_t at, A gradient) const {
    if (residual.gradient != nullptr) residual.gradient[at] = static_cast<T>(gradient);
  }
};

/// dx = factor * (dy - mean(dy) - (x - mean) * slope); dx may be dy. One call does P channels of a
/// row.
template <class T, int P>
struct InputGradientRows {
  using A = Arithmetic<T>;
  GradientRows<T> tensors;
  const A* mean_gradient;
  const A* slope;
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
        result.value[k] = static_cast<T>(input_gradient(static_cast<A>(value.value[k]),
                                                        static_cast<A>(gradient.value[k]), c + k));
      }
    }
    store_pack<T, P>(dx + at, result);
  }

 private:
  TY_HD A input_gradient(A value, A gradient, std::int64_t c) const {
    const A open = tensors.open(value, gradient, c);
    return tensors.channels.factor[c] *
           (open - mean_gradient[c] - (value - tensors.channels.mean[c]) * slope[c]);
  }
};

}  // namespace trainyard
