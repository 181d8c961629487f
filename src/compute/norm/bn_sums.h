// The sums of batch norm over rows of channels, as functors of columns(): a column is a channel.
//
// Groups of 64 rows are added in one binary tree in the arithmetic type (launcher/columns.h), x
// around the group's first row; groups in one in double. In f32 a distance d from the first row is
// rounded once, its square three times in all, and their sums six times: the variance is within
// 9 * 2^-24 of the mean of d * d, whatever the mean: that is on average twice the variance within
// groups, and at most 64 times.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "compute/channel_rows.h"
#include "compute/norm/bn_formulas.h"
#include "launcher/columns.h"
#include "launcher/launch.h"
#include "launcher/pairwise.h"

namespace trainyard {

/// Two sums of each of W columns.
template <class A, int W>
struct ColumnTerms {
  A first[W] = {}, second[W] = {};
  TY_HD ColumnTerms& operator+=(const ColumnTerms& other) {
    TY_UNROLL
    for (int k = 0; k < W; ++k) {
      first[k] += other.first[k];
      second[k] += other.second[k];
    }
    return *this;
  }
};

/// leaf(load(row)) for kRows rows from `begin` on, added pairwise; leaf(blank), which is zero, for
/// those from `end` on. kLoads rows are loaded together; then arrive(row, values) may change what
/// leaf() gets.
template <int kRows, int kLoads, class Load, class Values, class Arrive, class Leaf>
TY_HD auto sum_rows(std::int64_t begin, std::int64_t end, const Load& load, const Values& blank,
                    const Arrive& arrive, const Leaf& leaf) {
  if constexpr (kRows > kLoads) {
    auto sum = sum_rows<kRows / 2, kLoads>(begin, end, load, blank, arrive, leaf);
    sum += sum_rows<kRows / 2, kLoads>(begin + kRows / 2, end, load, blank, arrive, leaf);
    return sum;
  } else {
    Values staged[kRows];
    TY_UNROLL
    for (int i = 0; i < kRows; ++i) staged[i] = begin + i < end ? load(begin + i) : blank;
    TY_UNROLL
    for (int i = 0; i < kRows; ++i) {
      if (begin + i < end) arrive(begin + i, staged[i]);
    }
    return pairwise<kRows>([&](int i) { return leaf(staged[i]); });
  }
}

/// Rows of a strip.
inline constexpr int kBnStripRows = kGroupRows / kGroupStrips;

/// Batch statistics: a column is a channel.
/// In 16 bits x is summed around 0 between groups, which in double is exact enough; else around the
/// channel's first row.
template <class T, int P>
struct BatchMoments {
  using A = Arithmetic<T>;
  using Sum = PairSum;
  using Factors = ChannelFactors<A>;
  static constexpr bool kPivots = sizeof(T) > 2;
  /// Sums over a group of distances from its first row and of their squares.
  struct Part {
    A first, second;
    A origin[kPivots ? 2 : 1];  // the first row of the group; of the channel
    TY_HD Part& operator+=(const Part& other) {
      first += other.first;
      second += other.second;
      return *this;
    }
  };
  static constexpr int kColumns = P;
  static constexpr int kLoads = kBnStripRows;  // loads of a thread in flight
  static constexpr bool kSiblings = P > 1;
  ChannelRows rows;
  const T* x;
  SettleMoments<A> settle;

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 Part* parts) const {
    if (count == kColumnLanes && c + count <= rows.channels) {
      return add_columns<kColumnLanes>(begin, end, c, parts);
    }
    for (std::int64_t k = 0; k < count; k += P) {
      if (P > 1 || c + k < rows.channels) add_columns<P>(begin, end, c + k, parts + k);
    }
  }
  TY_HD PairSum widened(const Part& part, std::int64_t count) const {
    double shift = part.origin[0];
    if constexpr (kPivots) shift -= part.origin[1];
    return moved_sums({part.first, part.second}, static_cast<double>(count), shift);
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const { settle.finish(c, sums, pivot(c)); }
  TY_HD ChannelConstants<A> constants(std::int64_t c, const PairSum& sums) const {
    return settle.constants(c, sums, pivot(c));
  }

 private:
  TY_HD double pivot(std::int64_t c) const {
    if (!kPivots || c >= rows.channels) return 0;
    return static_cast<A>(x[rows.offset(0) + c * rows.channel_stride]);
  }
  template <int W>
  TY_HD void add_columns(std::int64_t begin, std::int64_t end, std::int64_t c, Part* parts) const {
    using Row = RowPacks<T, P, W>;
    constexpr int kStaged = W > P ? 1 : kLoads;
    const auto load = [&](std::int64_t row) { return rows.template row<P, W>(x, row, c); };
    // The rows that others are seen from too are requested before the strip is waited for.
    const Row own = load(begin - begin % kGroupRows), pivots = kPivots ? load(0) : own;
    const auto sums = sum_rows<kBnStripRows, kStaged>(
        begin, end, load, own, [](std::int64_t, const Row&) {},
        [&](const Row& values) {
          ColumnTerms<A, W> sum;
          TY_UNROLL
          for (int k = 0; k < W; ++k) {
            sum.first[k] = static_cast<A>(values[k]) - static_cast<A>(own[k]);
            sum.second[k] = sum.first[k] * sum.first[k];
          }
          return sum;
        });
    TY_UNROLL
    for (int k = 0; k < W; ++k) {
      parts[k] = {sums.first[k], sums.second[k], {static_cast<A>(own[k])}};
      if constexpr (kPivots) parts[k].origin[1] = static_cast<A>(pivots[k]);
    }
  }
};

/// The inputs of both passes of the gradient.
template <class T>
struct GradientRows {
  ChannelRows input, output;  // rows of x and dx, of dy
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
  struct Part {  // sums of a group
    A first, second;
    TY_HD Part& operator+=(const Part& other) {
      first += other.first;
      second += other.second;
      return *this;
    }
  };
  static constexpr int kColumns = P;
  static constexpr int kLoads = 4;  // loads of each tensor, of a thread, in flight
  static constexpr bool kSiblings = P > 1 && kCut <= ReluCut::by_input;
  GradientRows<T> tensors;
  ResidualGradient<T> residual;
  SettleGradients<A> settle;

  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 Part* parts) const {
    if (count == kColumnLanes && c + count <= tensors.input.channels) {
      return add_columns<kColumnLanes>(begin, end, c, parts);
    }
    for (std::int64_t k = 0; k < count; k += P) {
      if (P > 1 || c + k < tensors.input.channels) {
        add_columns<P>(begin, end, c + k, parts + k);
      } else {
        clear_padding(begin, end, c + k);
      }
    }
  }
  TY_HD PairSum widened(const Part& part, std::int64_t /*rows*/) const {
    return {part.first, part.second};
  }
  TY_HD void finish(std::int64_t c, const PairSum& sums) const { settle.finish(c, sums); }

 private:
  template <int W>
  struct Rows {
    RowPacks<T, P, W> x = {}, gradient = {}, y = {};
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
  TY_HD void add_columns(std::int64_t begin, std::int64_t end, std::int64_t c, Part* parts) const {
    constexpr int kStaged = W > P ? 1 : kLoads;
    ChannelConstants<A> constants[W];
    tensors.channels.template load<P, W>(c, constants);
    const auto sums = sum_rows<kBnStripRows, kStaged>(
        begin, end, [&](std::int64_t row) { return load<W>(row, c); }, Rows<W>{},
        [&](std::int64_t row, Rows<W>& rows) { cut(row, c, constants, rows); },
        [&](const Rows<W>& rows) { return terms(rows, constants); });
    TY_UNROLL
    for (int k = 0; k < W; ++k) parts[k] = {sums.first[k], sums.second[k]};
  }
  /// Leaves the gradient behind the ReLU in rows.gradient, which is exact, and stores it where it
  /// is the residual's.
  template <int W>
  TY_HD void cut(std::int64_t row, std::int64_t c, const ChannelConstants<A> (&constants)[W],
                 Rows<W>& rows) const {
    if constexpr (kCut != ReluCut::none) {
      TY_UNROLL
      for (int k = 0; k < W; ++k) {
        const A above = kCut == ReluCut::by_input
                            ? constants[k].normalised(static_cast<A>(rows.x[k]))
                            : static_cast<A>(rows.y[k]);
        const A open = behind_relu(above, static_cast<A>(rows.gradient[k]));
        rows.gradient.set(k, static_cast<T>(open));
      }
    }
    if (kCut == ReluCut::kept) {
      tensors.input.template store_row<P, W>(residual.gradient, row, c, rows.gradient);
    }
  }
  template <int W>
  TY_HD ColumnTerms<A, W> terms(const Rows<W>& rows,
                                const ChannelConstants<A> (&constants)[W]) const {
    ColumnTerms<A, W> sum;
    TY_UNROLL
    for (int k = 0; k < W; ++k) {
      sum.first[k] = static_cast<A>(rows.gradient[k]);
      sum.second[k] = sum.first[k] * (static_cast<A>(rows.x[k]) - constants[k].mean);
    }
    return sum;
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

}  // namespace trainyard
