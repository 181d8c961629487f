// Batch norm as functors over rows of channels, for devices without a library that does it (GPUs),
// and for the layouts of the CPU that have no planes.
//
// Forward reads x twice: once for the sums of each channel (bn_sums.h), once to normalise. Backward
// reads x and dy twice. A pass is two launches. With one replica the sums are finished, and what
// follows from them settled, by the second one where the first leaves few (left_grid), in each of
// its blocks, else by the first one's last blocks. With other replicas to join, the sums are left,
// and the settling continues from those of all. Batch norms that are branches of one concatenation
// are siblings in these launches (launcher/siblings.h), if they are in packs and have no residual.
#pragma once

#include <cstdint>

#include "compute/channel_rows.h"
#include "compute/norm/bn_formulas.h"
#include "compute/norm/bn_sums.h"
#include "launcher/launch.h"

namespace trainyard {

/// Rows that one call of an elementwise pass does, with a channel's constants loaded once.
inline constexpr std::int64_t kBnCallRows = 4;
/// In the backward pass, which reads two or three maps: with 4 a thread has up to 170 registers,
/// and a processor of a GPU room for one block.
inline constexpr std::int64_t kBnGradientCallRows = 2;

/// The channels and rows of a call of an elementwise pass: rows `first`, `first + step` ..., so
/// that neighbouring calls read neighbouring memory.
struct BnCall {
  std::int64_t channel, first, step;
};

/// The calls of an elementwise pass in packs of P channels of kRows rows.
template <int P, std::int64_t kRows>
struct BnCalls {
  static constexpr int kPack = P;
  ChannelRows rows;

  /// Calls of a pack of channels.
  [[nodiscard]] TY_HD std::int64_t below() const { return (rows.count + kRows - 1) / kRows; }
  [[nodiscard]] TY_HD std::int64_t all() const { return below() * (rows.padded / P); }
  /// Call i of all.
  [[nodiscard]] TY_HD BnCall operator[](std::int64_t i) const {
    const std::uint32_t packs = static_cast<std::uint32_t>(rows.padded / P);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    const std::uint32_t pack = static_cast<std::uint32_t>(i) - row * packs;
    return {pack * static_cast<std::int64_t>(P), row, below()};
  }
};

/// y = bn(x), plus the residual if there is one, clamped at 0 with relu (NaN stays NaN).
template <class T, int P, bool kRelu, bool kResidual>
struct NormaliseRows {
  using A = Arithmetic<T>;
  using Calls = BnCalls<P, kBnCallRows>;
  static constexpr bool kSiblings = P > 1 && !kResidual;
  ChannelRows from, to;
  const T* x;
  const T* residual;  // same layout as x
  T* y;
  ChannelFactors<A> channels;

  /// What a call reads besides channels' constants.
  struct Values {
    RowPacks<T, P, P> x[kBnCallRows] = {}, added[kBnCallRows] = {};
  };

  [[nodiscard]] TY_HD Calls calls() const { return {to}; }
  TY_HD void operator()(std::int64_t i) const {
    const BnCall call = calls()[i];
    const bool padding = P == 1 && call.channel >= from.channels;
    store(call, padding ? Values{} : load(call), channels, call.channel);
  }
  TY_HD Values load(const BnCall& call) const {
    Values values;
    TY_UNROLL
    for (int j = 0; j < kBnCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= to.count) continue;
      values.x[j] = from.template row<P, P>(x, row, call.channel);
      if (kResidual) values.added[j] = from.template row<P, P>(residual, row, call.channel);
    }
    return values;
  }
  /// `factors` has the constants of the call's channels from `at` on.
  TY_HD void store(const BnCall& call, const Values& values, const ChannelFactors<A>& factors,
                   std::int64_t at) const {
    ChannelConstants<A> constants[P];
    factors.template load<P, P>(at, constants);
    TY_UNROLL
    for (int j = 0; j < kBnCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= to.count) continue;
      Pack<T, P> out;
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        A sum = constants[k].normalised(static_cast<A>(values.x[j][k]));
        if (kResidual) sum += static_cast<A>(values.added[j][k]);
        out.value[k] = static_cast<T>(kRelu ? clamped(sum) : sum);
      }
      store_pack<T, P>(y + to.offset(row) + call.channel * to.channel_stride, out);
    }
  }
};

/// The gradient of x; dx may be dy, unless kAdds: then dx += the gradient, rounded once.
template <class T, int P, bool kRelu, bool kAdds>
struct InputGradientRows {
  using A = Arithmetic<T>;
  using Calls = BnCalls<P, kBnGradientCallRows>;
  static constexpr bool kSiblings = P > 1;
  GradientRows<T> tensors;
  GradientFactors<A> factors;
  T* dx;

  /// What a call reads besides the means of channels' gradients.
  struct Values {
    ChannelConstants<A> constants[P] = {};
    RowPacks<T, P, P> x[kBnGradientCallRows] = {}, gradient[kBnGradientCallRows] = {},
                      earlier[kBnGradientCallRows] = {};
  };

  [[nodiscard]] TY_HD Calls calls() const { return {tensors.input}; }
  TY_HD void operator()(std::int64_t i) const {
    const BnCall call = calls()[i];
    const bool padding = P == 1 && call.channel >= tensors.output.channels;
    store(call, padding ? Values{} : load(call), factors, call.channel);
  }
  TY_HD Values load(const BnCall& call) const {
    Values values;
    tensors.channels.template load<P, P>(call.channel, values.constants);
    TY_UNROLL
    for (int j = 0; j < kBnGradientCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= tensors.input.count) continue;
      values.x[j] = tensors.input.template row<P, P>(tensors.x, row, call.channel);
      values.gradient[j] = tensors.template gradient<P, P>(row, call.channel);
      if (kAdds) values.earlier[j] = tensors.input.template row<P, P>(dx, row, call.channel);
    }
    return values;
  }
  /// `means` has those of the call's channels from `at` on.
  TY_HD void store(const BnCall& call, const Values& values, const GradientFactors<A>& means,
                   std::int64_t at) const {
    const ChannelRows& in = tensors.input;
    GradientConstants<A> mean[P];
    means.template load<P, P>(at, mean);
    TY_UNROLL
    for (int j = 0; j < kBnGradientCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= in.count) continue;
      Pack<T, P> out;
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        const A value = static_cast<A>(values.x[j][k]);
        A open = static_cast<A>(values.gradient[j][k]);
        if (kRelu) open = behind_relu(values.constants[k].normalised(value), open);
        A gradient = input_gradient(values.constants[k], mean[k], value, open);
        if (kAdds) gradient += static_cast<A>(values.earlier[j][k]);
        out.value[k] = static_cast<T>(gradient);
      }
      store_pack<T, P>(dx + in.offset(row) + call.channel * in.channel_stride, out);
    }
  }
};

}  // namespace trainyard
