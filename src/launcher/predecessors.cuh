// Launches that begin while the kernel before them ends (CUDA's programming guide, "Programmatic
// Dependent Launch and Synchronization"; PTX ISA, "griddepcontrol").
//
// Every thread of every kernel of ours waits before it touches memory, so a captured launch may be
// scheduled as soon as all blocks of the kernel before it have ended or made room: what it gains is
// its start, 0.45 us where 1.2 us lie between two kernels (an H200, docs/results/log/gpu.md). No
// kernel lets the next one begin earlier (launch_dependents): blocks of it would take the
// processors of work that runs beside, which costs more than it gains there (4.7 against 3.5 us a
// node), and what it read before the wait would have to be old enough.
//
// A build with -DTRAINYARD_CHAOS=ON delays blocks there, to show that no result depends on when
// they run: scripts/gpu_kit.sh compares bytes.
#pragma once

#include <cuda_runtime.h>

#include <nv/target>

namespace trainyard {

/// The timer that all processors of a GPU share. It advances in steps of 32 ns to 1 us, by the GPU.
__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

#ifdef TRAINYARD_CHAOS
/// Up to 65 us, by the block and the time: all threads of a warp alike or not.
__device__ inline void delay_block() {
  const auto now = static_cast<unsigned>(global_nanoseconds());
  __nanosleep(((now ^ blockIdx.x) * 2654435761U) >> 16);
}
#else
__device__ inline void delay_block() {}
#endif

/// Returns when all kernels that the launch depends on have ended, and what they wrote is visible.
/// At once where it did not begin early, and in code for GPUs before Hopper, whose launches cannot.
__device__ inline void wait_for_predecessors() {
  NV_IF_TARGET(NV_PROVIDES_SM_90, (asm volatile("griddepcontrol.wait;" ::: "memory");))
  delay_block();
}

}  // namespace trainyard
