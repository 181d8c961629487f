// The CUDA launcher of functors: the members of CpuLauncher, with the same order in every
// sum, so that results are bit-identical to the CPU's. All of it can be captured into a graph: it
// allocates nothing, waits for nothing, and the host only launches.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <nv/target>
#include <type_traits>

#include "base/host_device.h"
#include "launcher/block_span.cuh"
#include "launcher/columns.h"
#include "launcher/cuda_columns.cuh"
#include "launcher/cuda_error.h"
#include "launcher/functor_name.h"
#include "launcher/mma.cuh"
#include "launcher/node_spans.h"
#include "launcher/predecessors.cuh"
#include "launcher/team.h"
#include "tensor/dtype.h"

namespace trainyard {

/// The sum of two lanes.
struct LaneSum {
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return a + b;
  }
};
/// The larger of two lanes; NaN wins.
struct LaneMax {
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return larger(a, b);
  }
};

/// Combines one value per lane pairwise in a tree (128 lanes to 64, 32, ... 1), as CpuTeam does;
/// every lane gets the result. The first warp runs the tree: two levels through shared memory, five
/// by shuffles, in which lane i uses the previous value of lane i + width.
template <class T, class Combine>
__device__ T combine_lanes(T own, const Combine& combine) {
  static_assert(std::is_arithmetic_v<T> && kTeamLanes == 128);
  __shared__ T lanes[kTeamLanes];
  const unsigned lane = threadIdx.x;
  __syncthreads();  // the previous result may still be read
  lanes[lane] = own;
  __syncthreads();
  if (lane < 32) {
    T value = combine(combine(lanes[lane], lanes[lane + 64]),
                      combine(lanes[lane + 32], lanes[lane + 96]));
    for (unsigned width = 16; width > 0; width /= 2) {
      value = combine(value, __shfl_down_sync(0xffffffffu, value, width));
    }
    if (lane == 0) lanes[0] = value;
  }
  __syncthreads();
  return lanes[0];
}

/// The Team of a row: a block of kTeamLanes threads. All lanes call its members together; what a
/// functor computes from their results is computed by every lane. (On the host the bodies are
/// empty: functors are compiled for both sides, and the host version is never called with this
/// Team.)
struct CudaTeam {
  static constexpr bool kSerial = false;

  /// Calls f(i) for i in [0, n), each lane every kTeamLanes-th; all lanes see what was written.
  template <class F>
  TY_HD void each(std::int64_t n, const F& f) const {
    NV_IF_TARGET(NV_IS_DEVICE, (for (std::int64_t i = threadIdx.x; i < n; i += kTeamLanes) f(i);
                                __syncthreads();))
  }
  /// Sum of f(i): lane l adds i = l, l + 128, ... in order, then lanes are added pairwise.
  template <class T, class F>
  TY_HD T sum(std::int64_t n, const F& f) const {
    T total{};
    NV_IF_TARGET(NV_IS_DEVICE,
                 (for (std::int64_t i = threadIdx.x; i < n; i += kTeamLanes) total += f(i);
                  total = combine_lanes(total, LaneSum{});))
    return total;
  }
  /// The same of an f that only loads: 8 loads are in flight at once.
  template <class T, class F>
  TY_HD T sum_loaded(std::int64_t n, const F& f) const {
    T total{};
    NV_IF_TARGET(NV_IS_DEVICE,
                 (add_of_lane(threadIdx.x, n, f, [&](std::int64_t, T value) { total += value; });
                  total = combine_lanes(total, LaneSum{});))
    return total;
  }
  /// Largest f(i); `least` for n = 0. NaN wins, so that it is not lost. In the order of sum().
  template <class T, class F>
  TY_HD T max(std::int64_t n, T least, const F& f) const {
    T most = least;
    NV_IF_TARGET(NV_IS_DEVICE, (for (std::int64_t i = threadIdx.x; i < n; i += kTeamLanes) most =
                                    larger<T>(most, f(i));
                                most = combine_lanes(most, LaneMax{});))
    return most;
  }
  /// sums += a * b on the tensor cores, for each warp (multiply_add_16x8x16()).
  template <class T>
  TY_HD void multiply_add(float (&sums)[4], const std::uint32_t (&a)[4],
                          const std::uint32_t (&b)[2]) const {
    NV_IF_TARGET(NV_IS_DEVICE, (multiply_add_16x8x16<T>(sums, a, b);))
  }
  /// Calls f() in the first lane.
  template <class F>
  TY_HD void once(const F& f) const {
    NV_IF_TARGET(NV_IS_DEVICE, (if (threadIdx.x == 0) f();))
  }
};

/// Threads per block of each().
inline constexpr unsigned kEachThreads = 256;

/// One thread per i. Limited by the memory traffic of f.
template <class F>
__global__ void __launch_bounds__(kEachThreads)
    each_kernel(const __grid_constant__ F f, std::int64_t n) {
  wait_for_predecessors();
  const BlockSpan<F> span(f);
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kEachThreads + threadIdx.x;
  if (i < n) f(i);
}

/// The same of several EachCalls.
template <class Calls>
__global__ void __launch_bounds__(kEachThreads)
    sibling_each_kernel(const __grid_constant__ Calls calls,
                        const __grid_constant__ SiblingBlocks blocks) {
  wait_for_predecessors();
  const BlockSpan<Calls> span(calls);
  const unsigned own = blocks.sibling();
  const auto& call = calls[own];
  const std::int64_t i = static_cast<std::int64_t>(blocks.block(own)) * kEachThreads + threadIdx.x;
  if (i < call.n) call.f(i);
}

/// One block per row.
template <class F>
__global__ void __launch_bounds__(kTeamLanes) rows_kernel(const __grid_constant__ F f) {
  wait_for_predecessors();
  const BlockSpan<F> span(f);
  f(CudaTeam{}, static_cast<std::int64_t>(blockIdx.x));
}

/// One block per row, of which the last to arrive finishes.
template <class F>
__global__ void __launch_bounds__(kTeamLanes)
    finished_rows_kernel(const __grid_constant__ F f, std::int64_t rows, std::uint32_t* finished) {
  wait_for_predecessors();
  const BlockSpan<F> span(f);
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  if (row < rows) f(CudaTeam{}, row);
  if (is_last_block(finished, gridDim.x)) f.finish(CudaTeam{});
}

/// Launches functors on a stream of the current device. Copyable; the stream must outlive it.
class CudaLauncher {
 public:
  using Team = CudaTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;
  /// Whether it has settled().
  static constexpr bool kSettles = true;

  explicit CudaLauncher(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  template <class F>
  void each(std::int64_t n, const F& f) const {
    if (n == 0) return;
    const unsigned blocks = grid_of(blocks_of(EachCall<F>{n, f}));
    launch("each", each_kernel<Launched<F>>, {blocks, kEachThreads}, launched(f), n);
  }

  template <class F>
  void rows(std::int64_t n, const F& f) const {
    if (n == 0) return;
    launch("rows", rows_kernel<Launched<F>>, {grid_of(n), kTeamLanes}, launched(f));
  }

  /// As CpuLauncher::finished_rows(); `finished` is on the device.
  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* finished) const {
    const std::int64_t blocks = n > 0 ? n : 1;
    launch("rows", finished_rows_kernel<Launched<F>>, {grid_of(blocks), kTeamLanes}, launched(f), n,
           finished);
  }

  /// As CpuLauncher::columns(); `partials` and `finished` are on the device.
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* partials,
               std::uint32_t* finished) const {
    this->columns(ColumnsCall<F>{column_grid<F>(rows, columns), f, partials}, finished);
  }
  template <class F>
  void columns(const ColumnsCall<F>& call, std::uint32_t* finished) const {
    if (call.grid.columns == 0) return;
    launch("columns", columns_kernel<Launched<F>>, {grid_of(blocks_of(call)), kColumnThreads},
           launched(call.f), call.grid, call.partials, finished);
  }

  /// As those of CpuLauncher; one launch where F has siblings.
  template <class F>
  void each(const Siblings<EachCall<F>>& calls) const {
    if constexpr (has_siblings<F>()) {
      const auto kernel = sibling_each_kernel<Launched<Siblings<EachCall<F>>>>;
      if (calls.count() > 1) return launch_siblings("each", kernel, kEachThreads, calls);
    }
    for (const EachCall<F>& call : calls) each(call.n, call.f);
  }
  template <class F>
  void columns(const Siblings<ColumnsCall<F>>& calls, std::uint32_t* finished) const {
    if constexpr (has_siblings<F>()) {
      const auto kernel = sibling_columns_kernel<Launched<Siblings<ColumnsCall<F>>>>;
      if (calls.count() > 1) {
        return launch_siblings("columns", kernel, kColumnThreads, calls, finished);
      }
    }
    for (const ColumnsCall<F>& call : calls) columns(call, finished);
  }
  template <class Settle, class F>
  void settled(const Siblings<SettledCall<Settle, F>>& calls) const {
    using Call = SettledCall<Settle, F>;
    if constexpr (has_siblings<F>()) {
      const auto kernel = sibling_settled_kernel<Launched<Siblings<Call>>>;
      if (calls.count() > 1) return launch_siblings("settled", kernel, kColumnThreads, calls);
    }
    for (const Call& call : calls) {
      launch("settled", settled_kernel<Launched<Call>>, {grid_of(blocks_of(call)), kColumnThreads},
             launched(call));
    }
  }

 private:
  struct Grid {
    unsigned blocks, threads;
  };
  template <class F>
  [[nodiscard]] static std::int64_t blocks_of(const EachCall<F>& call) {
    return (call.n + kEachThreads - 1) / kEachThreads;
  }
  template <class Call>
  [[nodiscard]] static std::int64_t blocks_of(const Call& call) {
    return call.blocks();
  }
  template <class Call, class Kernel, class... More>
  void launch_siblings(const char* form, Kernel kernel, unsigned threads,
                       const Siblings<Call>& calls, const More&... more) const {
    static_assert(sizeof(calls) + sizeof(SiblingBlocks) <= 4000, "parameters have 4 KB");
    SiblingBlocks blocks;
    for (const Call& call : calls) blocks.add(blocks_of(call));
    launch(form, kernel, {blocks.all(), threads}, launched(calls), blocks, more...);
  }
  /// `f`, in builds that time nodes with the launch's span.
  template <class F>
  [[nodiscard]] decltype(auto) launched(const F& f) const {
    if constexpr (kTimesNodes) {
      return Timed<F>{f, NodeSpans::of_launch(functor_name<F>(), stream_)};
    } else {
      return (f);
    }
  }
  /// Whether a launch may begin while the kernel before it ends (predecessors.cuh): in a recording,
  /// whose edges the device settles, and if the code that runs waits. Code for older GPUs does not,
  /// also where a newer one compiles it.
  [[nodiscard]] bool may_overlap(const void* kernel) const {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    static_cast<void>(cudaStreamIsCapturing(stream_, &capture));
    if (capture != cudaStreamCaptureStatusActive) return false;
    cudaFuncAttributes code{};
    static_cast<void>(cudaFuncGetAttributes(&code, kernel));
    return code.binaryVersion >= 90 && code.ptxVersion >= 90;
  }
  /// Launches by a call and not by <<<>>>, so that any C++ compiler can read this file: a test runs
  /// the kernels on the host.
  template <class... Parameters, class... Arguments>
  void launch(const char* form, void (*kernel)(Parameters...), Grid grid,
              const Arguments&... arguments) const {
    cudaLaunchAttribute overlap{};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid.blocks);
    config.blockDim = dim3(grid.threads);
    config.stream = stream_;
    config.attrs = &overlap;
    config.numAttrs = may_overlap(reinterpret_cast<const void*>(kernel)) ? 1 : 0;
    static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
    check_launch(form);  // reads CUDA's last error
  }

  cudaStream_t stream_;
};

}  // namespace trainyard
