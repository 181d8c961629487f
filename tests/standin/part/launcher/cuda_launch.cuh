// Replaces src/launcher/cuda_launch.cuh in the GPU part built for the stand-in runtime: its
// launches run on one thread with the CPU launcher's Team and columns, to which a GPU is
// bit-identical by the order of every sum.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "launcher/columns.h"
#include "launcher/cuda_error.h"
#include "launcher/functor_name.h"
#include "launcher/launch.h"
#include "launcher/node_spans.h"
#include "launcher/siblings.h"
#include "runtime/kinds.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Like the real one: launches functors on a stream of the current device, with as many launches.
class CudaLauncher {
 public:
  using Team = CpuTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;
  static constexpr bool kSettles = true;

  explicit CudaLauncher(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  template <class F>
  void each(std::int64_t n, const F& f) const {
    if (n == 0) return;
    const EachCall<F> call{n, f};
    launch<F>("each", blocks_of(call), kEachThreads, [call] { run(call); });
  }

  template <class F>
  void rows(std::int64_t n, const F& f) const {
    if (n == 0) return;
    launch<F>("rows", grid_of(n), kTeamLanes, [n, f] { do_rows(n, f); });
  }

  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* /*finished*/) const {
    launch<F>("rows", grid_of(n > 0 ? n : 1), kTeamLanes, [n, f] {
      do_rows(n, f);
      f.finish(Team{});
    });
  }

  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* partials,
               std::uint32_t* /*finished*/) const {
    if (columns == 0) return;
    const ColumnsCall<F> call{column_grid<F>(rows, columns), f, partials};
    launch<F>("columns", blocks_of(call), kColumnThreads, [call] { run(call); });
  }

  template <class F>
  void each(const Siblings<EachCall<F>>& calls) const {
    launch_siblings("each", kEachThreads, calls);
  }
  template <class F>
  void columns(const Siblings<ColumnsCall<F>>& calls, std::uint32_t* /*finished*/) const {
    launch_siblings("columns", kColumnThreads, calls);
  }
  template <class Settle, class F>
  void settled(const Siblings<SettledCall<Settle, F>>& calls) const {
    launch_siblings("settled", kColumnThreads, calls);
  }

 private:
  static constexpr unsigned kEachThreads = 256;
  // Bytes of a kernel's parameters from compute capability 7.0 on (CUDA 12.1).
  static constexpr std::size_t kMostParameters = 32764;

  [[nodiscard]] static unsigned long long nanoseconds() {
    using Nanoseconds = std::chrono::nanoseconds;
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<unsigned long long>(std::chrono::duration_cast<Nanoseconds>(now).count());
  }
  /// When the real one has the attribute of programmatic launches, on a GPU that has them.
  [[nodiscard]] bool is_recorded() const {
    bool capturing = false;
    static_cast<void>(standin::is_capturing(stream_, capturing));
    return capturing;
  }
  template <class F>
  static void calls(std::int64_t n, const F& f) {
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }
  template <class F>
  static void do_rows(std::int64_t n, const F& f) {
    for (std::int64_t row = 0; row < n; ++row) f(Team{}, row);
  }
  template <class F>
  [[nodiscard]] static unsigned blocks_of(const EachCall<F>& call) {
    return grid_of((call.n + kEachThreads - 1) / kEachThreads);
  }
  template <class Call>
  [[nodiscard]] static unsigned blocks_of(const Call& call) {
    return grid_of(call.blocks());
  }
  template <class F>
  static void run(const EachCall<F>& call) {
    calls(call.n, call.f);
  }
  template <class F>
  static void run(const ColumnsCall<F>& call) {
    const ColumnChunks<F> chunks{call.f, call.grid, call.partials};
    calls(call.grid.chunks * chunks.groups(), chunks);
    if (call.grid.left) return;
    calls(chunks.groups(), ColumnTotals<F>{call.f, call.grid, call.partials});
  }
  /// The real one's blocks have the constants that one of them stores.
  template <class Settle, class F>
  static void run(const SettledCall<Settle, F>& call) {
    const std::int64_t groups = (call.grid.columns + kColumnLanes - 1) / kColumnLanes;
    calls(groups, ColumnTotals<Settle>{call.settle, call.grid, call.partials});
    calls(call.rows.calls().all(), call.rows);
  }
  /// One launch, where the functor has siblings.
  template <class Call>
  void launch_siblings(const char* form, std::int64_t threads, const Siblings<Call>& all) const {
    using F = typename Call::Functor;
    std::int64_t blocks = 0;
    for (const Call& call : all) {
      if (!has_siblings<F>()) launch<F>(form, blocks_of(call), threads, [call] { run(call); });
      blocks += blocks_of(call);
    }
    if (!has_siblings<F>()) return;
    launch<Siblings<Call>>(form, blocks, threads, [all] {
      for (const Call& call : all) run(call);
    });
  }
  template <class F, class Run>
  void launch(const char* form, std::int64_t blocks, std::int64_t threads, Run run) const {
    static_assert(sizeof(F) + sizeof(std::int64_t) <= kMostParameters);
    const standin::Kernel kernel{form,         stream_, blocks, threads, functor_name<F>().c_str(),
                                 is_recorded()};
    NodeSpan* const span = NodeSpans::of_launch(functor_name<F>(), stream_);
    static_cast<void>(standin::launch_kernel(kernel, [run, span] {
      if (span != nullptr) span->begin = nanoseconds();
      run();
      if (span != nullptr) span->end = nanoseconds();
      return true;
    }));
    check_launch(form);
  }

  cudaStream_t stream_;
};

}  // namespace trainyard
