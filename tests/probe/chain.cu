// Kernels that do nothing: the time between two of them is all there is.
#include <cuda.h>

#include "launch.cuh"
#include "launches.h"

namespace trainyard::probe {
namespace {

template <Overlap kOverlap>
__global__ void empty_kernel() {
  if constexpr (kOverlap == Overlap::before_wait) trigger_next();
  if constexpr (kOverlap != Overlap::none) wait_for_predecessor();
  if constexpr (kOverlap == Overlap::early || kOverlap == Overlap::late) trigger_next();
}

template <Overlap kOverlap>
void launch_one(cudaStream_t stream, const EmptyLaunch& empty) {
  launch(stream,
         {.blocks = empty.blocks,
          .threads = empty.threads,
          .overlaps = kOverlap != Overlap::none,
          .cluster = empty.cluster,
          .cooperative = empty.cooperative},
         empty_kernel<kOverlap>);
}

/// The driver's launch, without a link to its library.
auto driver_launch() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  TY_CUDA(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &found, 12000, cudaEnableDefault,
                                           &result));
  return reinterpret_cast<decltype(&cuLaunchKernel)>(found);
}

__global__ void clocks_kernel(ClockReading* reading) {
  constexpr std::uint64_t kNanoseconds = 2'000'000;
  std::uint64_t first = 0, now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
  const long long begin = clock64();
  float value = static_cast<float>(threadIdx.x);
  do {
    for (int i = 0; i < 1000; ++i) value = __fmaf_rn(value, 0.999f, 1.0f);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - first < kNanoseconds && value > -1);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *reading = {static_cast<std::uint64_t>(clock64() - begin), now - first};
  }
}

}  // namespace

void launch_empty(cudaStream_t stream, const EmptyLaunch& launch) {
  switch (launch.overlap) {
    case Overlap::none:
      return launch_one<Overlap::none>(stream, launch);
    case Overlap::before_wait:
      return launch_one<Overlap::before_wait>(stream, launch);
    case Overlap::early:
      return launch_one<Overlap::early>(stream, launch);
    case Overlap::late:
      return launch_one<Overlap::late>(stream, launch);
    case Overlap::at_exit:
      return launch_one<Overlap::at_exit>(stream, launch);
  }
}

void launch_by_driver(cudaStream_t stream) {
  cudaFunction_t function = nullptr;
  TY_CUDA(
      cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(empty_kernel<Overlap::none>)));
  static const auto launch_kernel = driver_launch();
  const CUresult result = launch_kernel(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
  cuda::check(static_cast<cudaError_t>(result), "cuLaunchKernel");  // their numbers are the same
}

void launch_clocks(cudaStream_t stream, unsigned blocks, ClockReading* reading) {
  launch(stream, {.blocks = blocks, .threads = 1024}, clocks_kernel, reading);
}

}  // namespace trainyard::probe
