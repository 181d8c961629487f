// Batch norm as functors over rows of channels, for devices without a library that does it (GPUs),
// and for the layouts of the CPU that have no planes.
//
// Forward reads x twice: once for the sums of each channel, once to normalise. Backward reads x and
// dy twice. The sums are those of columns(): with one replica the block that finishes a channel
// also settles it, so a pass is two launches; with other replicas to join, the sums are left, and
// the settling continues from those of all. Batch norms that are branches of one concatenation are
// siblings in these launches (kernels/siblings.h), if they are in packs and have no residual.
//
// Within a strip of at most 32 rows sums are in the arithmetic type, around the strip's first row;
// between strips they are in double. In f32 the terms of a strip's n distances d from one of its
// values are within (n + 2) 2^-24 of their size, so the variance is within 200 * 2^-24 of the mean
// of d * d, whatever the mean: that is on average twice the variance within strips, and at most 32
// times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/half.h"
#include "exec/functor/bn_formulas.h"
#include "exec/functor/channel_rows.h"
#include "kernels/launch.h"

namespace trainyard {

/// Most rows of which sums are in the arithmetic type.
inline constexpr std::int64_t kBnStripRows = 32;
/// Rows that one call of an elementwise pass does, with a channel's constants loaded once.
inline constexpr std::int64_t kBnCallRows = 4;
/// In the backward pass, which reads two or three maps: with 4 a thread has up to 170 registers,
/// and a processor of a GPU room for one block.
inline constexpr std::int64_t kBnGradientCallRows = 2;

/// Calls of an elementwise pass over `rows` in packs of P channels.
template <int P, std::int64_t kRows = kBnCallRows>
TY_HD constexpr std::int64_t bn_calls(const ChannelRows& rows) {
  return (rows.count + kRows - 1) / kRows * (rows.padded / P);
}

/// The channels and rows of such a call: rows `first`, `first + step` ..., so that neighbouring
/// calls read neighbouring memory.
struct BnCall {
  std::int64_t channel, first, step;

  TY_HD BnCall(std::int64_t i, const ChannelRows& rows, int pack,
               std::int64_t call_rows = kBnCallRows)
      : step((rows.count + call_rows - 1) / call_rows) {
    const std::uint32_t packs = static_cast<std::uint32_t>(rows.padded / pack);
    const std::uint32_t row = static_cast<std::uint32_t>(i) / packs;
    channel = (static_cast<std::uint32_t>(i) - row * packs) * static_cast<std::int64_t>(pack);
    first = row;
  }
};

/// Batch statistics: a column is a channel.
template <class T, int P>
struct BatchMoments {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  static constexpr int kColumns = P;
  static constexpr std::int64_t kStripRows = kBnStripRows;
  static constexpr int kLoads = 8;  // of a thread, in flight
  static constexpr bool kSiblings = P > 1;
  ChannelRows rows;
  const T* x;
  SettleMoments<A> settle;

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 PairSum* sums) const {
    if (count == kColumnLanes && c + count <= rows.channels) {
      return add_columns<kColumnLanes>(begin, end, c, sums);
    }
    for (std::int64_t k = 0; k < count; k += P) {
      if (P > 1 || c + k < rows.channels) add_columns<P>(begin, end, c + k, sums + k);
    }
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const {
    settle.finish(c, sums, c < rows.channels ? pivot(c) : 0);
  }

 private:
  /// The channel's value in the first row.
  TY_HD double pivot(std::int64_t c) const {
    return static_cast<A>(x[rows.offset(0) + c * rows.channel_stride]);
  }
  template <int W>
  TY_HD void add_columns(std::int64_t begin, std::int64_t end, std::int64_t c,
                         PairSum* sums) const {
    using Row = RowPacks<T, P, W>;
    constexpr int kStaged = W > P ? 1 : kLoads;
    // The pivots too are requested before the strip is waited for.
    const Row own = rows.template row<P, W>(x, begin, c), pivots = rows.template row<P, W>(x, 0, c);
    A first[W] = {}, second[W] = {};
    const auto add_row = [&](std::int64_t, const Row& values) {
      TY_UNROLL
      for (int k = 0; k < W; ++k) {
        const A distance = static_cast<A>(values[k]) - static_cast<A>(own[k]);
        first[k] += distance;
        second[k] += distance * distance;
      }
    };
    add_staged<kStaged>(
        begin, end, [&](std::int64_t row) { return rows.template row<P, W>(x, row, c); }, add_row);
    TY_UNROLL
    for (int k = 0; k < W; ++k) {
      const double shift = static_cast<double>(static_cast<A>(own[k])) - static_cast<A>(pivots[k]);
      sums[k] += moved_sums({first[k], second[k]}, static_cast<double>(end - begin), shift);
    }
  }
};

/// y = bn(x), plus the residual if there is one, clamped at 0 with relu (NaN stays NaN).
template <class T, int P, bool kRelu, bool kResidual>
struct NormaliseRows {
  using A = Arithmetic<T>;
  static constexpr bool kSiblings = P > 1 && !kResidual;
  ChannelRows from, to;
  const T* x;
  const T* residual;  // same layout as x
  T* y;
  ChannelFactors<A> channels;

  TY_HD void operator()(std::int64_t i) const {
    const BnCall call(i, to, P);
    const bool padding = P == 1 && call.channel >= from.channels;
    ChannelConstants<A> constants[P] = {};
    if (!padding) channels.template load<P, P>(call.channel, constants);
    RowPacks<T, P, P> values[kBnCallRows] = {}, added[kBnCallRows] = {};
    TY_UNROLL
    for (int j = 0; j < kBnCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= to.count || padding) continue;
      values[j] = from.template row<P, P>(x, row, call.channel);
      if (kResidual) added[j] = from.template row<P, P>(residual, row, call.channel);
    }
    TY_UNROLL
    for (int j = 0; j < kBnCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= to.count) continue;
      Pack<T, P> out;
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        A sum = constants[k].normalised(static_cast<A>(values[j][k]));
        if (kResidual) sum += static_cast<A>(added[j][k]);
        out.value[k] = static_cast<T>(kRelu ? clamped(sum) : sum);
      }
      store_pack<T, P>(y + to.offset(row) + call.channel * to.channel_stride, out);
    }
  }
};

/// The inputs of both passes of the gradient.
template <class T>
struct GradientRows {
  ChannelRows input, output;  // of x and dx, of dy
  const T* x;
  const T* dy;
  ChannelFactors<Arithmetic<T>> channels;

  /// dy of W channels.
  template <int P, int W>
  TY_HD RowPacks<T, P, W> gradient(std::int64_t row, std::int64_t c) const {
    return output.template row<P, W>(dy, row, c);
  }
};

/// The gradient of the sum before a ReLU: that of a residual, and the dy of the second pass.
template <class T>
struct ResidualGradient {
  const T* y = nullptr;   // same layout as dy; null: no residual
  T* gradient = nullptr;  // same layout as x, may be dy; null: not needed
};

/// Sums over the batch of dy behind the ReLU and of that times (x - mean). A column is a channel.
template <class T, int P, ReluCut kCut>
struct GradientSums {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  static constexpr int kColumns = P;
  static constexpr std::int64_t kStripRows = kBnStripRows;
  static constexpr int kLoads = 4;  // of each tensor, of a thread, in flight
  static constexpr bool kSiblings = P > 1 && kCut <= ReluCut::by_input;
  GradientRows<T> tensors;
  ResidualGradient<T> residual;
  SettleGradients<A> settle;

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 PairSum* sums) const {
    if (count == kColumnLanes && c + count <= tensors.input.channels) {
      return add_columns<kColumnLanes>(begin, end, c, sums);
    }
    for (std::int64_t k = 0; k < count; k += P) {
      if (P > 1 || c + k < tensors.input.channels) {
        add_columns<P>(begin, end, c + k, sums + k);
      } else {
        clear_padding(begin, end, c + k);
      }
    }
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const { settle.finish(c, sums); }

 private:
  template <int W>
  struct Rows {
    RowPacks<T, P, W> x, gradient, y;
  };

  template <int W>
  TY_HD Rows<W> load(std::int64_t row, std::int64_t c) const {
    Rows<W> rows;
    rows.x = tensors.input.template row<P, W>(tensors.x, row, c);
    rows.gradient = tensors.template gradient<P, W>(row, c);
    if (kCut >= ReluCut::by_output) rows.y = tensors.output.template row<P, W>(residual.y, row, c);
    return rows;
  }
  template <int W>
  TY_HD void add_columns(std::int64_t begin, std::int64_t end, std::int64_t c,
                         PairSum* sums) const {
    constexpr int kStaged = W > P ? 1 : kLoads;
    ChannelConstants<A> constants[W];
    tensors.channels.template load<P, W>(c, constants);
    A first[W] = {}, second[W] = {};
    const auto add_row = [&](std::int64_t row, const Rows<W>& rows) {
      RowPacks<T, P, W> kept;
      TY_UNROLL
      for (int k = 0; k < W; ++k) {
        const A value = static_cast<A>(rows.x[k]);
        A open = static_cast<A>(rows.gradient[k]);
        if (kCut == ReluCut::by_input) open = behind_relu(constants[k].normalised(value), open);
        if (kCut >= ReluCut::by_output) open = behind_relu(static_cast<A>(rows.y[k]), open);
        if (kCut == ReluCut::kept) kept.set(k, static_cast<T>(open));
        first[k] += open;
        second[k] += open * (value - constants[k].mean);
      }
      if (kCut == ReluCut::kept)
        tensors.input.template store_row<P, W>(residual.gradient, row, c, kept);
    };
    add_staged<kStaged>(
        begin, end, [&](std::int64_t row) { return load<W>(row, c); }, add_row);
    TY_UNROLL
    for (int k = 0; k < W; ++k) {
      sums[k] += PairSum{static_cast<double>(first[k]), static_cast<double>(second[k])};
    }
  }
  /// A residual's gradient has zeros after its channels.
  TY_HD void clear_padding(std::int64_t begin, std::int64_t end, std::int64_t c) const {
    if constexpr (P == 1 && kCut == ReluCut::kept) {
      if (c >= tensors.input.padded) return;
      for (std::int64_t row = begin; row < end; ++row) {
        residual.gradient[tensors.input.offset(row) + c * tensors.input.channel_stride] = T{};
      }
    }
  }
};

/// The gradient of x; dx may be dy, unless kAdds: then dx += the gradient, rounded once.
template <class T, int P, bool kRelu, bool kAdds>
struct InputGradientRows {
  using A = Arithmetic<T>;
  static constexpr bool kSiblings = P > 1;
  GradientRows<T> tensors;
  GradientFactors<A> factors;
  T* dx;

  TY_HD void operator()(std::int64_t i) const {
    const ChannelRows& in = tensors.input;
    const BnCall call(i, in, P, kBnGradientCallRows);
    const bool padding = P == 1 && call.channel >= tensors.output.channels;
    ChannelConstants<A> constants[P] = {};
    GradientConstants<A> means[P] = {};
    if (!padding) {
      tensors.channels.template load<P, P>(call.channel, constants);
      factors.template load<P, P>(call.channel, means);
    }
    RowPacks<T, P, P> values[kBnGradientCallRows] = {}, gradients[kBnGradientCallRows] = {},
                      earlier[kBnGradientCallRows] = {};
    TY_UNROLL
    for (int j = 0; j < kBnGradientCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= in.count || padding) continue;
      values[j] = in.template row<P, P>(tensors.x, row, call.channel);
      gradients[j] = tensors.template gradient<P, P>(row, call.channel);
      if (kAdds) earlier[j] = in.template row<P, P>(dx, row, call.channel);
    }
    TY_UNROLL
    for (int j = 0; j < kBnGradientCallRows; ++j) {
      const std::int64_t row = call.first + j * call.step;
      if (row >= in.count) continue;
      Pack<T, P> out;
      TY_UNROLL
      for (int k = 0; k < P; ++k) {
        const A value = static_cast<A>(values[j][k]);
        A open = static_cast<A>(gradients[j][k]);
        if (kRelu) open = behind_relu(constants[k].normalised(value), open);
        A gradient = input_gradient(constants[k], means[k], value, open);
        if (kAdds) gradient += static_cast<A>(earlier[j][k]);
        out.value[k] = static_cast<T>(gradient);
      }
      store_pack<T, P>(dx + in.offset(row) + call.channel * in.channel_stride, out);
    }
  }
};

}  // namespace trainyard
