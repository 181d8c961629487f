// The CPU launcher of functors. (The CUDA launcher, cuda_launch.cuh, has the same members.)
//
// A functor is a plain struct of pointers and scalars. Three forms:
//   each(n, f)        f(i) for i in [0, n), in any order, no two accessing the same output
//   rows(n, f)        f(team, row): a Team computes sums, maxima and elementwise parts of one row;
//                     finished_rows(n, f): f.finish(team) too, once, after all rows
//   columns(r, c, f)  sums over r rows for each of c columns, in strips and a tree that the shape
//                     fixes (columns.h)
// each() and columns() also take several functors of one type, for which a GPU has one launch
// (siblings.h). A GPU's launcher has one form more: settled(calls), an each() that finishes the
// sums which columns() left (SettledCall). Each result is a pure function of the inputs:
// independent of thread count and processor.
//
// The folder launcher holds the launchers and the Team alone: the functors that they run are in
// compute, optim and data.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "base/parallel.h"
#include "launcher/columns.h"
#include "launcher/pairwise.h"
#include "launcher/siblings.h"
#include "launcher/team.h"
#include "tensor/dtype.h"

namespace trainyard {

/// The CPU's Team: reproduces the order of a block of 128 CUDA threads.
struct CpuTeam {
  static constexpr bool kSerial = true;  // one thread does a row
  static constexpr bool kWide = false;   // its vectors are those of AVX-512

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
  /// The same of an f that only loads.
  template <class T, class F>
  TY_HD T sum_loaded(std::int64_t n, const F& f) const {
    return sum<T>(n, f);
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

/// The same where vectors are those of AVX-512.
struct WideCpuTeam : CpuTeam {
  static constexpr bool kWide = true;
};

/// Columns that one worker of columns() sums side by side.
inline constexpr std::int64_t kColumnLanes = 16;

/// First stage of columns(): one chunk of rows for up to kColumnLanes columns side by side, so that
/// they fill a vector.
template <class F>
struct ColumnChunks {
  using Sum = typename F::Sum;
  F f;
  ColumnGrid grid;
  Sum* partials;  // [chunks, columns]

  [[nodiscard]] TY_HD std::int64_t groups() const {
    return (grid.columns + kColumnLanes - 1) / kColumnLanes;
  }
  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / groups();
    const std::int64_t first = i % groups() * kColumnLanes;
    const std::int64_t left = grid.columns - first;
    const std::int64_t width = left < kColumnLanes ? left : kColumnLanes;
    const std::int64_t step = has_parts<F>() ? kGroupRows : grid.strip;
    const std::int64_t begin = grid.begin(chunk, 0, 0);
    const std::int64_t end = grid.end(begin, grid.turns * grid.tall * grid.strip);
    PairwiseSums<Sum, kColumnLanes, kChunkStrips> tree;
    std::int64_t row = begin;
    do {  // once too without rows
      add(row, grid.end(row, step), first, width, tree.open());
      tree.close();
      row += step;
    } while (row < end);
    const Sum* const sums = tree.total();
    for (std::int64_t k = 0; k < width; ++k) partials[chunk * grid.columns + first + k] = sums[k];
  }

 private:
  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t width,
                 Sum* sums) const {
    if (begin >= end) return;
    if constexpr (has_parts<F>()) {
      add_group(begin, end, first, width, sums);
    } else {
      add_rows(begin, end, first, width, sums);
    }
  }
  TY_HD void add_group(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t width,
                       Sum* sums) const {
    PairwiseSums<AddedOf<F>, kColumnLanes, kGroupStrips> strips;
    for (std::int64_t row = begin; row < end; row += grid.strip) {
      add_rows(row, grid.end(row, grid.strip), first, width, strips.open());
      strips.close();
    }
    const AddedOf<F>* const parts = strips.total();
    for (std::int64_t k = 0; k < width; ++k) sums[k] += f.widened(parts[k], end - begin);
  }
  /// A functor of single terms is compiled for the whole width too, so that it is a vector.
  TY_HD void add_rows(std::int64_t begin, std::int64_t end, std::int64_t first, std::int64_t width,
                      AddedOf<F>* sums) const {
    if constexpr (requires { f.add(begin, end, first, width, sums); }) {
      f.add(begin, end, first, width, sums);
    } else if (width == kColumnLanes) {
      add_strip(f, begin, end, first, kColumnLanes, sums);
    } else {
      add_strip(f, begin, end, first, width, sums);
    }
  }
};

/// Second stage: the chunks of up to kColumnLanes columns. `F` needs finish() alone.
template <class F>
struct ColumnTotals {
  using Sum = typename F::Sum;
  F f;
  ColumnGrid grid;
  const Sum* partials;

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t first = i * kColumnLanes, left = grid.columns - first;
    const std::int64_t width = left < kColumnLanes ? left : kColumnLanes;
    PairwiseSums<Sum, kColumnLanes, kColumnPartials> chunks;
    for (std::int64_t chunk = 0; chunk < grid.chunks; ++chunk) {
      Sum* const own = chunks.open();
      for (std::int64_t k = 0; k < width; ++k) {
        own[k] += partials[chunk * grid.columns + first + k];
      }
      chunks.close();
    }
    const Sum* const sums = chunks.total();
    for (std::int64_t k = 0; k < width; ++k) f.finish(first + k, sums[k]);
  }
};

/// Which vectors a launcher may use. `narrow` is for tests: results must be bit-identical.
enum class Vectors { widest, narrow };

/// Loops with the widest available vectors: each is compiled for AVX2 and for AVX-512.
class VectorLoops {
 public:
  explicit VectorLoops(Vectors vectors)
      : wide_(vectors == Vectors::widest && processor_has_avx512()) {}

  /// f(i) for i in [begin, end), in any order.
  template <class F>
  void each(const F& f, std::int64_t begin, std::int64_t end) const {
    wide_ ? each_v4(f, begin, end) : each_v3(f, begin, end);
  }
  /// The same for functors that contain loops of their own.
  template <class F>
  void units(const F& f, std::int64_t begin, std::int64_t end) const {
    wide_ ? units_v4(f, begin, end) : units_v3(f, begin, end);
  }
  /// f(team, row) for rows in [begin, end).
  template <class F>
  void rows(const F& f, std::int64_t begin, std::int64_t end) const {
    wide_ ? rows_v4(f, begin, end) : rows_v3(f, begin, end);
  }

 private:
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
    for (std::int64_t row = begin; row < end; ++row) f(WideCpuTeam{}, row);
  }
  template <class F>
  __attribute__((target("arch=x86-64-v3"), flatten, noinline)) static void rows_v3(
      const F& functor, std::int64_t begin, std::int64_t end) {
    const F f = functor;
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }

  bool wide_;
};

/// Loops for types whose speed does not matter: they compile in a fraction of the time.
struct PlainLoops {
  template <class F>
  void each(const F& f, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  }
  template <class F>
  void units(const F& f, std::int64_t begin, std::int64_t end) const {
    each(f, begin, end);
  }
  template <class F>
  void rows(const F& f, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t row = begin; row < end; ++row) f(CpuTeam{}, row);
  }
};

/// Runs functors in these loops on the processor's cores. Stateless except for the thread count;
/// copyable.
template <class Loops>
class HostLauncher {
 public:
  using Team = CpuTeam;
  /// Whether an elementwise call does 16 bytes together; here the compiler makes vectors of calls.
  static constexpr bool kPacks = false;
  /// Whether it has settled(); here columns() finishes its sums.
  static constexpr bool kSettles = false;

  [[nodiscard]] int threads() const { return threads_; }

  template <class F>
  void each(std::int64_t n, const F& f) const {
    parallel_ranges(threads_, n, kEachGrain,
                    [&](std::int64_t begin, std::int64_t end) { loops_.each(f, begin, end); });
  }

  template <class F>
  void rows(std::int64_t n, const F& f) const {
    parallel_ranges(threads_, n, 1,
                    [&](std::int64_t begin, std::int64_t end) { loops_.rows(f, begin, end); });
  }

  /// rows(), then f.finish(team), which reads what the rows wrote. `finished` is a number in the
  /// launcher's memory that is 0 before and after; launches that may overlap have one each.
  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* /*finished*/) const {
    rows(n, f);
    rows(1, Finish<F>{f});
  }

  /// `partials` has column_partials(rows, columns) elements. `finished`: kColumnGroups numbers as
  /// in finished_rows().
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* partials,
               std::uint32_t* finished) const {
    this->columns(ColumnsCall<F>{column_grid<F>(rows, columns), f, partials}, finished);
  }
  template <class F>
  void columns(const ColumnsCall<F>& call, std::uint32_t* /*finished*/) const {
    const ColumnChunks<F> first{call.f, call.grid, call.partials};
    units(call.grid.chunks * first.groups(), first);
    units(first.groups(), ColumnTotals<F>{call.f, call.grid, call.partials});
  }

  /// Siblings, one after the other. `finished`: kColumnGroups numbers for each of kMostSiblings.
  template <class F>
  void each(const Siblings<EachCall<F>>& calls) const {
    for (const EachCall<F>& call : calls) each(call.n, call.f);
  }
  template <class F>
  void columns(const Siblings<ColumnsCall<F>>& calls, std::uint32_t* finished) const {
    for (const ColumnsCall<F>& call : calls) columns(call, finished);
  }

 protected:
  HostLauncher(int threads, const Loops& loops) : threads_(threads), loops_(loops) {}

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
    parallel_ranges(threads_, n, 1,
                    [&](std::int64_t begin, std::int64_t end) { loops_.units(f, begin, end); });
  }

  int threads_;
  Loops loops_;
};

/// The CPU's launcher.
class CpuLauncher : public HostLauncher<VectorLoops> {
 public:
  using Floats = AllFloats;
  explicit CpuLauncher(int threads, Vectors vectors = Vectors::widest)
      : HostLauncher(threads, VectorLoops(vectors)) {}
};

/// The launcher of types that the reference device stores and the CPU does not.
class PlainLauncher : public HostLauncher<PlainLoops> {
 public:
  explicit PlainLauncher(int threads) : HostLauncher(threads, {}) {}
};

}  // namespace trainyard
