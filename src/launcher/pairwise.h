// Sums in a binary tree: neighbours are added, then neighbouring pairs and so on. A neighbour that
// is not there is left out, so a run of 2^n values that begins at a multiple of 2^n has one sum,
// whoever adds it up.
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// leaf(kFirst) to leaf(kFirst + kCount - 1), added pairwise; a power of two.
template <int kCount, int kFirst = 0, class Leaf>
TY_HD auto pairwise(const Leaf& leaf) {
  if constexpr (kCount == 1) {
    return leaf(kFirst);
  } else {
    auto sum = pairwise<kCount / 2, kFirst>(leaf);
    sum += pairwise<kCount / 2, kFirst + kCount / 2>(leaf);
    return sum;
  }
}

/// Adds up lists of at most kMost values that lie side by side in W columns, pairwise as they come:
/// a sum of 2^n values waits at a depth of its own until its neighbour is complete. No sum is -0,
/// so a value of zero changes nothing.
template <class Sum, int W, std::int64_t kMost>
class PairwiseSums {
 public:
  /// Where the next value of each column is added to zero. close() follows.
  TY_HD Sum* open() {
    Sum* const own = sums_[depth_];
    for (int k = 0; k < W; ++k) own[k] = {};
    return own;
  }
  TY_HD void close() {
    ++depth_;
    for (std::int64_t pairs = ++count_; pairs % 2 == 0; pairs /= 2) join();
  }
  /// The columns' sums, of at least one value.
  TY_HD const Sum* total() {
    while (depth_ > 1) join();
    return sums_[0];
  }

 private:
  static constexpr int kDepths = std::bit_width(static_cast<std::uint64_t>(kMost));

  TY_HD void join() {
    --depth_;
    for (int k = 0; k < W; ++k) sums_[depth_ - 1][k] += sums_[depth_][k];
  }

  alignas(64) Sum sums_[kDepths][W];
  int depth_ = 0;
  std::int64_t count_ = 0;
};

/// Two sums in double: of the gradients of two parameters, or of x and x * x. Zeros when
/// value-initialised.
struct PairSum {
  double first, second;
  TY_HD PairSum& operator+=(const PairSum& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

}  // namespace trainyard
