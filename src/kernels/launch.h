// The CPU launcher of functors. (The CUDA launcher has the same three members.)
//
// A functor is a plain struct of pointers and scalars. Three forms:
//   each(n, f)        f(i) for i in [0, n), in any order, no two touching the same output
//   rows(n, f)        f(team, row): a Team computes sums, maxima and elementwise parts of one row
//   columns(...)      per-channel sums over everything else, in fixed chunks and a fixed order
// The result of each is a pure function of its inputs: never of the thread count or processor.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/host_device.h"
#include "base/parallel.h"

namespace trainyard {

/// Lanes of a Team: partial sums are strided by it, then added pairwise in a tree.
inline constexpr std::int64_t kTeamLanes = 128;

/// The CPU's Team: replays the order that a block of 128 CUDA threads would use.
struct CpuTeam {
  /// Calls f(i) for i in [0, n).
  template <class F>
  TY_HD void each(std::int64_t n, const F& f) const {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  /// Sum of f(i): lane l adds i = l, l + 128, ... in order, lanes are added pairwise.
  template <class T, class F>
  TY_HD T sum(std::int64_t n, const F& f) const {
    T lanes[kTeamLanes] = {};
    std::int64_t i = 0;
    for (; i + kTeamLanes <= n; i += kTeamLanes) {
      for (std::int64_t lane = 0; lane < kTeamLanes; ++lane) lanes[lane] += f(i + lane);
    }
    for (std::int64_t lane = 0; i + lane < n; ++lane) lanes[lane] += f(i + lane);
    for (std::int64_t width = kTeamLanes / 2; width > 0; width /= 2) {
      for (std::int64_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    return lanes[0];
  }
  /// Largest f(i); `least` for n = 0. NaN wins, so that it is not lost.
  template <class T, class F>
  TY_HD T max(std::int64_t n, T least, const F& f) const {
    T best = least;
    for (std::int64_t i = 0; i < n; ++i) {
      const T value = f(i);
      best = (value > best || value != value) ? value : best;
      if (best != best) return best;
    }
    return best;
  }
  /// Calls f() once for the team.
  template <class F>
  TY_HD void once(const F& f) const {
    f();
  }
};

/// Runs functors on the processor's cores with the widest vectors it has. Stateless but for the
/// thread count; copied freely.
class CpuLauncher {
 public:
  using Team = CpuTeam;

  explicit CpuLauncher(int threads) : threads_(threads), wide_(processor_has_avx512()) {}
  [[nodiscard]] int threads() const { return threads_; }

  template <class F>
  void each(std::int64_t n, const F& f) const {
    parallel_ranges(threads_, n, kEachGrain, [&](std::int64_t begin, std::int64_t end) {
      wide_ ? each_v4(f, begin, end) : each_v3(f, begin, end);
    });
  }

  template <class F>
  void rows(std::int64_t n, const F& f) const {
    parallel_ranges(threads_, n, 1, [&](std::int64_t begin, std::int64_t end) {
      wide_ ? rows_v4(f, begin, end) : rows_v3(f, begin, end);
    });
  }

 private:
  static constexpr std::int64_t kEachGrain = 4096;  // elements worth another thread

  template <class F>
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten, noinline)) static void
  each_v4(const F& f, std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void each_v3(
      const F& f, std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten, noinline)) static void
  rows_v4(const F& f, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void rows_v3(
      const F& f, std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }

  int threads_;
  bool wide_;
};

}  // namespace trainyard
