// A launcher of functors that counts: the members of CudaLauncher, each of which adds to a log as
// many launches.
#pragma once

#include <cstdint>
#include <optional>

#include "counted/launch_log.h"
#include "counted/moved_bytes.h"
#include "kernels/functor_name.h"
#include "kernels/launch.h"
#include "tensor/float_types.h"

namespace trainyard::counted {

/// Copyable; the log must outlive it. One call alone moves nothing that counts: it changes the
/// state of a step.
class CountingLauncher {
 public:
  using Team = CpuTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;

  explicit CountingLauncher(LaunchLog& log) : log_(&log) {}

  template <class F>
  void each(std::int64_t n, const F& f) const {
    if (n > 0) log_->add(functor_name<F>(), n == 1 ? 0 : moved_bytes(f, n));
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
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* /*partials*/,
               std::uint32_t* /*finished*/) const {
    if (columns == 0) return;
    const std::int64_t chunks = column_grid<F>(rows, columns).chunks;
    std::optional<std::size_t> moved = moved_bytes(f, rows * columns);
    if (moved && chunks > 1) {
      *moved += 2 * static_cast<std::size_t>(chunks * columns) * sizeof(typename F::Sum);
    }
    log_->add(functor_name<F>(), moved);
  }

 private:
  LaunchLog* log_;
};

}  // namespace trainyard::counted
