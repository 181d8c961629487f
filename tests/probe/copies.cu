// A copy as fast as the memory, or the L2 cache, lets it be.
#include "launch.cuh"
#include "launches.h"

namespace trainyard::probe {
namespace {

constexpr unsigned kCopyThreads = 256, kCopiesOfThread = 4;
constexpr std::size_t kCopiedByBlock = kCopyThreads * kCopiesOfThread * sizeof(uint4);

__global__ void __launch_bounds__(kCopyThreads) copy_kernel(uint4* to, const uint4* from) {
  const std::size_t first =
      static_cast<std::size_t>(blockIdx.x) * kCopyThreads * kCopiesOfThread + threadIdx.x;
  uint4 values[kCopiesOfThread];
#pragma unroll
  for (unsigned i = 0; i < kCopiesOfThread; ++i) values[i] = from[first + i * kCopyThreads];
#pragma unroll
  for (unsigned i = 0; i < kCopiesOfThread; ++i) to[first + i * kCopyThreads] = values[i];
}

}  // namespace

void launch_copy(cudaStream_t stream, void* to, const void* from, std::size_t bytes) {
  launch(stream, {.blocks = static_cast<unsigned>(bytes / kCopiedByBlock), .threads = kCopyThreads},
         copy_kernel, static_cast<uint4*>(to), static_cast<const uint4*>(from));
}

}  // namespace trainyard::probe
