// The CPU launcher of functors. (The CUDA launcher, cuda_launch.cuh, has the same members.)
//
// A functor is a plain struct of pointers and scalars. Three forms:
//   each(n, f)        f(i) for i in [0, n), in any order, no two accessing the same output
//   rows(n, f)        f(team, row): a Team computes sums, maxima and elementwise parts of one row;
//                     finished_rows(n, f): f.finish(team) too, once, after all rows
//   columns(r, c, f)  sums over r rows for each of c columns, in fixed chunks and a fixed order
// Each result is a pure function of the inputs: independent of thread count and processor.
//
// The folder kernels holds the launchers and the Team alone: the functors that they run are in ops,
// exec/functor, optim and data.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/host_device.h"
#include "base/parallel.h"
#include "kernels/columns.h"
#include "kernels/team.h"
#include "tensor/float_types.h"

namespace trainyard {

/// The CPU's Team: reproduces the order of a block of 128 CUDA threads.
struct CpuTeam {
  static constexpr bool kSerial = true;  // one thread does a row

  /// Calls f(i) for i in [0, n), in any order.
  template <class F>
  TY_HD void each(std::int64_t n, const F& f) const {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  /// Sum of f(i): lane l adds i = l, l + 128, ... in order, then lanes are added pairwise.
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
  /// Largest f(i); `least` for n = 0. NaN wins, so that it is not lost. In the order of sum().
  template <class T, class F>
  TY_HD T max(std::int64_t n, T least, const F& f) const {
    T lanes[kTeamLanes];
    for (T& lane : lanes) lane = least;
    std::int64_t i = 0;
    for (; i + kTeamLanes <= n; i += kTeamLanes) {
      for (std::int64_t lane = 0; lane < kTeamLanes; ++lane) {
        lanes[lane] = larger<T>(lanes[lane], f(i + lane));
      }
    }
    for (std::int64_t lane = 0; i + lane < n; ++lane) {
      lanes[lane] = larger<T>(lanes[lane], f(i + lane));
    }
    for (std::int64_t width = kTeamLanes / 2; width > 0; width /= 2) {
      for (std::int64_t lane = 0; lane < width; ++lane) {
        lanes[lane] = larger<T>(lanes[lane], lanes[lane + width]);
      }
    }
    return lanes[0];
  }
  /// Calls f() once for the team.
  template <class F>
  TY_HD void once(const F& f) const {
    f();
  }
};

/// Columns that one worker of columns() sums side by side.
inline constexpr std::int64_t kColumnLanes = 16;

/// First stage of columns(), like ColumnChunk: one chunk of rows for up to kColumnLanes columns,
/// row by row, so that the columns fill a vector. A functor that knows which columns are neighbours
/// in memory has add(begin, end, first, count, sums), which does what the loops do.
template <class F>
struct ColumnChunks {
  using Sum = typename F::Sum;
  F f;
  std::int64_t rows, columns;
  Sum* partials;  // [chunks, columns]

  [[nodiscard]] TY_HD std::int64_t groups() const {
    return (columns + kColumnLanes - 1) / kColumnLanes;
  }
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / groups();
    const std::int64_t first = i % groups() * kColumnLanes;
    const std::int64_t end = (chunk + 1) * kColumnRows < rows ? (chunk + 1) * kColumnRows : rows;
    Sum sums[kColumnLanes] = {};
    const std::int64_t left = columns - first;
    const std::int64_t count = left < kColumnLanes ? left : kColumnLanes;
    const std::int64_t begin = chunk * kColumnRows;
    if constexpr (requires { f.add(begin, end, first, count, sums); }) {
      f.add(begin, end, first, count, sums);
    } else if (count == kColumnLanes) {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t lane = 0; lane < kColumnLanes; ++lane) sums[lane] += f(row, first + lane);
      }
    } else {
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t lane = 0; lane < count; ++lane) sums[lane] += f(row, first + lane);
      }
    }
    Sum* const out = partials + chunk * columns + first;
    for (std::int64_t lane = 0; lane < count; ++lane) out[lane] = sums[lane];
  }
};

/// Which vectors a launcher may use. `narrow` is for tests: results must be bit-identical.
enum class Vectors { widest, narrow };

/// Runs functors on the processor's cores with the widest available vectors. Stateless except for
/// the thread count; copyable.
class CpuLauncher {
 public:
  using Team = CpuTeam;
  using Floats = AllFloats;

  explicit CpuLauncher(int threads, Vectors vectors = Vectors::widest)
      : threads_(threads), wide_(vectors == Vectors::widest && processor_has_avx512()) {}
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

  /// rows(), then f.finish(team), which reads what the rows wrote. `finished` is a number in the
  /// launcher's memory that is 0 before and after; launches that may overlap have one each.
  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* /*finished*/) const {
    rows(n, f);
    rows(1, Finish<F>{f});
  }

  /// f has a type Sum (with +=, zero when value-initialised), Sum operator()(row, column) and
  /// finish(column, Sum), which receives the column's sum over all rows. `partials` has
  /// column_partials(rows, columns) elements.
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f,
               typename F::Sum* partials) const {
    const std::int64_t chunks = column_chunks(rows);
    const ColumnChunks<F> first{f, rows, columns, partials};
    units(chunks * first.groups(), first);
    units(columns, ColumnTotals<F>{f, chunks, columns, partials});
  }

 private:
  static constexpr std::int64_t kEachGrain = 4096;  // elements that are worth another thread

  /// The end of finished_rows() as a row.
  template <class F>
  struct Finish {
    F f;
    template <class Team>
    void operator()(const Team& team, std::int64_t /*row*/) const {
      f.finish(team);
    }
  };

  /// Like each(), for functors whose every call is worth a thread.
  template <class F>
  void units(std::int64_t n, const F& f) const {
    parallel_ranges(threads_, n, 1, [&](std::int64_t begin, std::int64_t end) {
      wide_ ? units_v4(f, begin, end) : units_v3(f, begin, end);
    });
  }

  // The functor is copied, so that the compiler knows that no store changes its members.
  template <class F>
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten, noinline)) static void
  each_v4(const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void each_v3(
      const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten, noinline)) static void
  units_v4(const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void units_v3(
      const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), flatten, noinline)) static void
  rows_v4(const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void rows_v3(
      const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }

  int threads_;
  bool wide_;
};

}  // namespace trainyard
