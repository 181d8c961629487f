#include "launch.cuh"
#include "launches.h"

namespace trainyard::probe {
namespace {

constexpr unsigned kWorkThreads = 256;
constexpr int kWorkValues = 120;  // in registers; with what else a thread has nearly 128

__device__ std::uint16_t own_processor() {
  unsigned number = 0;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
  return static_cast<std::uint16_t>(number);
}

template <Overlap kOverlap>
__global__ void __launch_bounds__(kWorkThreads, 2)
    work_kernel(int rounds, std::uint16_t* processors) {
  extern __shared__ float shared[];
  float values[kWorkValues];
#pragma unroll
  for (int i = 0; i < kWorkValues; ++i) values[i] = static_cast<float>(threadIdx.x + i);
  if constexpr (kOverlap != Overlap::none) wait_for_predecessor();
  if constexpr (kOverlap == Overlap::early) trigger_next();
  if (processors != nullptr && threadIdx.x == 0) processors[blockIdx.x] = own_processor();
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < kWorkValues; ++i) values[i] = __fmaf_rn(values[i], 0.5f, 1.0f);
  }
  if constexpr (kOverlap == Overlap::late) trigger_next();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kWorkValues; ++i) sum += values[i];
  shared[threadIdx.x] = sum;
}

template <Overlap kOverlap>
void launch_one(cudaStream_t stream, const WorkLaunch& work) {
  launch(stream,
         {.blocks = work.blocks,
          .threads = kWorkThreads,
          .shared = static_cast<std::size_t>(work.kilobytes) << 10,
          .overlaps = kOverlap != Overlap::none},
         work_kernel<kOverlap>, work.rounds, work.processors);
}

}  // namespace

void launch_work(cudaStream_t stream, const WorkLaunch& launch) {
  switch (launch.overlap) {
    case Overlap::early:
      return launch_one<Overlap::early>(stream, launch);
    case Overlap::late:
      return launch_one<Overlap::late>(stream, launch);
    case Overlap::at_exit:
      return launch_one<Overlap::at_exit>(stream, launch);
    default:
      return launch_one<Overlap::none>(stream, launch);
  }
}

int work_registers() {
  cudaFuncAttributes attributes{};
  TY_CUDA(cudaFuncGetAttributes(&attributes, work_kernel<Overlap::early>));
  return attributes.numRegs;
}

}  // namespace trainyard::probe
