// The CUDA launcher of functors: the members of CpuLauncher, with the same order in every
// sum, so that results are bit-identical to the CPU's. All of it can be captured into a graph: it
// allocates nothing, waits for nothing, and the host only launches.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <nv/target>
#include <type_traits>

#include "base/host_device.h"
#include "kernels/columns.h"
#include "kernels/cuda_error.h"
#include "kernels/team.h"
#include "tensor/float_types.h"

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
  /// Largest f(i); `least` for n = 0. NaN wins, so that it is not lost. In the order of sum().
  template <class T, class F>
  TY_HD T max(std::int64_t n, T least, const F& f) const {
    T most = least;
    NV_IF_TARGET(NV_IS_DEVICE, (for (std::int64_t i = threadIdx.x; i < n; i += kTeamLanes) most =
                                    larger<T>(most, f(i));
                                most = combine_lanes(most, LaneMax{});))
    return most;
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
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kEachThreads + threadIdx.x;
  if (i < n) f(i);
}

/// One block per row.
template <class F>
__global__ void __launch_bounds__(kTeamLanes) rows_kernel(const __grid_constant__ F f) {
  f(CudaTeam{}, static_cast<std::int64_t>(blockIdx.x));
}

/// True in the last of `blocks` blocks to arrive, which then sees what all of them wrote.
/// `finished` counts them and is 0 again afterwards.
__device__ inline bool is_last_block(std::uint32_t* finished, unsigned blocks) {
  __shared__ bool last;
  __threadfence();  // what this thread wrote is visible before its block counts
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(finished, blocks - 1) == blocks - 1;
  __syncthreads();
  __threadfence();
  return last;
}

/// One block per row, of which the last to arrive finishes.
template <class F>
__global__ void __launch_bounds__(kTeamLanes)
    finished_rows_kernel(const __grid_constant__ F f, std::int64_t rows, std::uint32_t* finished) {
  const auto row = static_cast<std::int64_t>(blockIdx.x);
  if (row < rows) f(CudaTeam{}, row);
  if (is_last_block(finished, gridDim.x)) f.finish(CudaTeam{});
}

/// The sums of a block of columns(), in memory that its threads share: kColumnThreads for each of
/// the `kTogether` columns of a thread.
template <class Sum, unsigned kTogether>
struct BlockSums {
  Sum* sums;  // [kTogether, lanes, wide]

  __device__ Sum& at(unsigned k, unsigned thread) const {
    return sums[k * kColumnThreads + thread];
  }
  /// Adds `lanes` lanes of `wide` threads pairwise, into the first. Both are powers of two.
  __device__ void fold(unsigned lanes, unsigned wide) const {
    for (lanes /= 2; lanes > 0; lanes /= 2) {
      __syncthreads();
      const unsigned pairs = lanes * wide, thread = threadIdx.x % pairs;
      for (unsigned k = threadIdx.x / pairs; k < kTogether; k += kColumnThreads / pairs) {
        at(k, thread) += at(k, thread + pairs);
      }
    }
    __syncthreads();
  }
};

/// The partial results of a group of columns. Loads of 8 chunks are in flight, since a lane's
/// additions depend on each other and its loads do not.
template <class F>
__device__ void finish_columns(const F& f, const ColumnGrid& grid, std::int64_t group,
                               typename F::Sum* memory, const typename F::Sum* partials) {
  using ColumnSum = typename F::Sum;
  constexpr int kStaged = 8;
  const auto beside = static_cast<unsigned>(grid.beside());
  const auto lanes = static_cast<unsigned>(grid.lanes());
  const unsigned lane = threadIdx.x / beside;
  const std::int64_t column = group * beside + threadIdx.x % beside;
  const BlockSums<ColumnSum, 1> sums{memory};
  ColumnSum total = {};
  if (lane < lanes && column < grid.columns) {
    std::int64_t chunk = lane;
    for (; chunk + (kStaged - 1) * lanes < grid.chunks; chunk += kStaged * lanes) {
      ColumnSum staged[kStaged];
#pragma unroll
      for (int i = 0; i < kStaged; ++i) {
        staged[i] = partials[(chunk + i * lanes) * grid.columns + column];
      }
#pragma unroll
      for (int i = 0; i < kStaged; ++i) total += staged[i];
    }
    for (; chunk < grid.chunks; chunk += lanes) total += partials[chunk * grid.columns + column];
  }
  __syncthreads();  // the block's own sums are read
  sums.at(0, threadIdx.x) = total;
  sums.fold(lanes, beside);
  if (lane == 0 && column < grid.columns) f.finish(column, sums.at(0, threadIdx.x));
}

/// One block for a chunk of rows of a group of columns; the last of a group to arrive finishes it.
template <class F>
__global__ void __launch_bounds__(kColumnThreads)
    columns_kernel(const __grid_constant__ F f, const __grid_constant__ ColumnGrid grid,
                   typename F::Sum* partials, std::uint32_t* finished) {
  using ColumnSum = typename F::Sum;
  constexpr unsigned kTogether = columns_together<F>();
  alignas(16) __shared__ std::byte memory[sizeof(ColumnSum) * kTogether * kColumnThreads];
  const BlockSums<ColumnSum, kTogether> sums{reinterpret_cast<ColumnSum*>(memory)};
  const std::int64_t chunk = blockIdx.x / grid.groups, group = blockIdx.x % grid.groups;
  const auto wide = static_cast<unsigned>(grid.wide);
  const unsigned lane = threadIdx.x / wide, side = threadIdx.x % wide;
  const std::int64_t first = group * grid.beside(), own = first + side * kTogether;
  ColumnSum strip[kTogether] = {};
  for (std::int64_t turn = 0; turn < grid.turns; ++turn) {
    const std::int64_t begin = grid.begin(chunk, lane, turn);
    if (begin >= grid.rows || own >= grid.columns) break;
    add_strip(f, begin, grid.end(begin), own, kTogether, strip);
  }
#pragma unroll
  for (unsigned k = 0; k < kTogether; ++k) sums.at(k, threadIdx.x) = strip[k];
  sums.fold(static_cast<unsigned>(grid.tall), wide);
  const std::int64_t column = first + threadIdx.x;
  const bool counts = threadIdx.x < wide * kTogether && column < grid.columns;
  const ColumnSum& sum = sums.at(threadIdx.x % kTogether, threadIdx.x / kTogether);
  if (grid.chunks == 1) {
    if (counts) f.finish(column, sum);
    return;
  }
  if (counts) partials[chunk * grid.columns + column] = sum;
  if (is_last_block(finished + group, static_cast<unsigned>(grid.chunks))) {
    finish_columns(f, grid, group, sums.sums, partials);
  }
}

/// Launches functors on a stream of the current device. Copyable; the stream must outlive it.
class CudaLauncher {
 public:
  using Team = CudaTeam;
  using Floats = GpuFloats;
  static constexpr bool kPacks = true;

  explicit CudaLauncher(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  template <class F>
  void each(std::int64_t n, const F& f) const {
    if (n == 0) return;
    launch("each", each_kernel<F>, {blocks_for(n), kEachThreads}, f, n);
  }

  template <class F>
  void rows(std::int64_t n, const F& f) const {
    if (n == 0) return;
    launch("rows", rows_kernel<F>, {grid_of(n), kTeamLanes}, f);
  }

  /// As CpuLauncher::finished_rows(); `finished` is on the device.
  template <class F>
  void finished_rows(std::int64_t n, const F& f, std::uint32_t* finished) const {
    const std::int64_t blocks = n > 0 ? n : 1;
    launch("rows", finished_rows_kernel<F>, {grid_of(blocks), kTeamLanes}, f, n, finished);
  }

  /// As CpuLauncher::columns(); `partials` and `finished` are on the device.
  template <class F>
  void columns(std::int64_t rows, std::int64_t columns, const F& f, typename F::Sum* partials,
               std::uint32_t* finished) const {
    if (columns == 0) return;
    const ColumnGrid grid = column_grid<F>(rows, columns);
    static_assert(kColumnThreads % columns_together<F>() == 0);
    launch("columns", columns_kernel<F>, {grid_of(grid.groups * grid.chunks), kColumnThreads}, f,
           grid, partials, finished);
  }

 private:
  struct Grid {
    unsigned blocks, threads;
  };
  [[nodiscard]] static unsigned blocks_for(std::int64_t n) {
    return grid_of((n + kEachThreads - 1) / kEachThreads);
  }
  /// Launches by a call and not by <<<>>>, so that any C++ compiler can read this file: a test runs
  /// the kernels on the host.
  template <class... Parameters, class... Arguments>
  void launch(const char* form, void (*kernel)(Parameters...), Grid grid,
              const Arguments&... arguments) const {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(grid.blocks);
    config.blockDim = dim3(grid.threads);
    config.stream = stream_;
    static_cast<void>(cudaLaunchKernelEx(&config, kernel, arguments...));
    check_launch(form);  // reads CUDA's last error
  }

  cudaStream_t stream_;
};

}  // namespace trainyard
