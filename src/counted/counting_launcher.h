// A launcher of functors that counts: the members of CudaLauncher, each of which adds to a log as
// many launches.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "counted/launch_log.h"
#include "counted/moved_bytes.h"
#include "launcher/functor_name.h"
#include "launcher/launch.h"
#include "tensor/dtype.h"

namespace trainyard::counted {

/// Copyable; the log must outlive it. One call alone moves nothing that counts: it changes the
/// state of a step.
class CountingLauncher {
 public:
  using Team = CpuTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;
  static constexpr bool kSettles = true;

  /// Without a `kind` launches are of the log's.
  explicit CountingLauncher(LaunchLog& log, std::string_view kind = {}) : log_(&log), kind_(kind) {}

  template <class F>
  void each(std::int64_t n, const F& f) const {
    if (n > 0) log_->add(functor_name<F>(), moved_by(EachCall<F>{n, f}), kind_);
  }
  template <class F>
  void rows(std::int64_t n, const F& f) const {
    each(n, f);
  }
  /// One launch, of which the last block finishes.
  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* /*finished*/) const {
    log_->add(functor_name<F>(), moved_bytes(f, n));
  }
  /// One launch, of which the last blocks read what all leave.
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* partials,
               std::uint32_t* /*finished*/) const {
    if (columns == 0) return;
    log_->add(functor_name<F>(),
              moved_by(ColumnsCall<F>{column_grid<F>(rows, columns), f, partials}));
  }
  template <class F>
  void each(const Siblings<EachCall<F>>& calls) const {
    add_siblings(calls);
  }
  template <class F>
  void columns(const Siblings<ColumnsCall<F>>& calls, std::uint32_t* /*finished*/) const {
    add_siblings(calls);
  }
  template <class Settle, class F>
  void settled(const Siblings<SettledCall<Settle, F>>& calls) const {
    add_siblings(calls);
  }

 private:
  template <class F>
  [[nodiscard]] static std::optional<std::size_t> moved_by(const EachCall<F>& call) {
    return call.n == 1 ? 0 : moved_bytes(call.f, call.n);
  }
  template <class F>
  [[nodiscard]] static std::optional<std::size_t> moved_by(const ColumnsCall<F>& call) {
    const ColumnGrid& grid = call.grid;
    std::optional<std::size_t> moved = moved_bytes(call.f, grid.rows * grid.columns);
    if (moved && grid.left) *moved += partial_bytes<F>(grid);
    if (moved && !grid.left && grid.chunks > 1) *moved += 2 * partial_bytes<F>(grid);
    return moved;
  }
  /// The sums left count once, though each block reads some.
  template <class Settle, class F>
  [[nodiscard]] static std::optional<std::size_t> moved_by(const SettledCall<Settle, F>& call) {
    std::optional<std::size_t> moved = moved_bytes(call.rows, call.rows.calls().all());
    if (moved) *moved += partial_bytes<Settle>(call.grid);
    return moved;
  }
  template <class F>
  [[nodiscard]] static std::size_t partial_bytes(const ColumnGrid& grid) {
    return static_cast<std::size_t>(grid.chunks * grid.columns) * sizeof(typename F::Sum);
  }
  /// One launch, where the functor has siblings.
  template <class Call>
  void add_siblings(const Siblings<Call>& calls) const {
    const std::string& name = functor_name<typename Call::Functor>();
    std::optional<std::size_t> all = 0;
    for (const Call& call : calls) {
      const std::optional<std::size_t> moved = moved_by(call);
      if (!has_siblings<typename Call::Functor>()) log_->add(name, moved);
      all = all && moved ? std::optional(*all + *moved) : std::nullopt;
    }
    if (has_siblings<typename Call::Functor>()) log_->add(name, all);
  }

  LaunchLog* log_;
  std::string_view kind_;  // a literal
};

}  // namespace trainyard::counted
