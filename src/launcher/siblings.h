// Several functors of one type in one launch: each has the blocks that it has in a launch of its
// own, so its results have the same bits. And two functors of any types in one launch.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "launcher/columns.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// True for functors of which launches may have several (kSiblings); of others launchers make one
/// launch each. Every one that may is compiled twice.
template <class F>
constexpr bool has_siblings() {
  if constexpr (requires { F::kSiblings; }) {
    return F::kSiblings;
  } else {
    return false;
  }
}

/// each(n, f).
template <class F>
struct EachCall {
  using Functor = F;
  std::int64_t n;
  F f;
};

/// columns(grid.rows, grid.columns, f, partials, finished), where `grid` is column_grid<F>() or
/// left_grid<F>().
template <class F>
struct ColumnsCall {
  using Functor = F;
  ColumnGrid grid;
  F f;
  typename F::Sum* partials;

  /// Blocks of a GPU's launch.
  [[nodiscard]] std::int64_t blocks() const { return grid.groups * grid.chunks; }
};

/// each(rows.calls().all(), rows) behind columns() that left its sums in `partials`, each block of
/// which finishes those of its columns. A Settle has
///   Sum                    that of columns()
///   constants(column, Sum) what `rows` needs of a column; without effect
///   finish(column, Sum)    as a functor of columns(), called once
///   Factors                arrays of columns' constants: at(memory, columns) with
///   elements(columns)
///                          numbers of type A, and set(column, constants)
/// and F, besides calls() (BnCalls),
///   Values load(call)      what a call reads besides those
///   store(call, values, factors, at)
///                          the rest of f(i), with its first column's constants at `at`
template <class Settle, class F>
struct SettledCall {
  using Functor = F;
  ColumnGrid grid;
  const typename Settle::Sum* partials;
  Settle settle;
  F rows;

  /// Blocks of a GPU's launch.
  [[nodiscard]] std::int64_t blocks() const {
    return grid.groups * ((rows.calls().below() + grid.tall - 1) / grid.tall);
  }
};

/// Calls of a launch: none may read or write what another one writes.
template <class Call>
class Siblings {
 public:
  /// kMostSiblings at most.
  void add(const Call& call) { calls_[count_++] = call; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const Call* begin() const { return calls_; }
  [[nodiscard]] const Call* end() const { return calls_ + count_; }
  [[nodiscard]] TY_HD const Call& operator[](unsigned i) const { return calls_[i]; }

 private:
  Call calls_[kMostSiblings] = {};
  int count_ = 0;
};

/// The rows or calls of `first`, of which there are `count`, then those of `second`; neither may
/// read what the other writes. In finished_rows() the end is the first's.
template <class First, class Second>
struct InTurn {
  First first;
  std::int64_t count;
  Second second;

  TY_HD void operator()(std::int64_t i) const { i < count ? first(i) : second(i - count); }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    row < count ? first(team, row) : second(team, row - count);
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    first.finish(team);
  }
};

}  // namespace trainyard
