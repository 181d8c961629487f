#include <cooperative_groups.h>

#include "finish.cuh"
#include "launch.cuh"

namespace trainyard::probe {
namespace {

/// The last block of a cluster reads the sums of all from their shared memory.
template <int kChannels>
__global__ void __launch_bounds__(kFinishThreads, 2)
    cluster_kernel(const __grid_constant__ FinishMemory memory) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  alignas(16) __shared__ std::byte bytes[sizeof(PairSum) * kChannels];
  auto* const sums = reinterpret_cast<PairSum*>(bytes);
  const auto cluster = cooperative_groups::this_cluster();
  const unsigned channel = threadIdx.x, block = blockIdx.x;
  const bool owns = channel < kChannels;
  const PairSum own = block_sum(block, channel);
  if (owns) {
    sums[channel] = own;
    memory.partials[block * kChannels + channel] = own;
  }
  cluster.sync();
  if (owns && cluster.block_rank() == kFinishGroup - 1) {
    PairSum read[kFinishGroup];
#pragma unroll
    for (unsigned i = 0; i < kFinishGroup; ++i) {
      read[i] = *cluster.map_shared_rank(sums + channel, i);
    }
    PairSum sum = {};
#pragma unroll
    for (const PairSum& one : read) sum += one;
    memory.groups[block / kFinishGroup * kChannels + channel] = sum;
  }
  cluster.sync();  // the memory of all has been read
#endif
}

template <int kChannels, Finish kHow>
void launch_one(cudaStream_t stream, const FinishMemory& memory) {
  launch(stream, {.blocks = kFinishBlocks, .threads = kFinishThreads},
         finish_kernel<kChannels, kHow>, memory);
}

template <int kChannels>
void launch_channels(cudaStream_t stream, Finish how, const FinishMemory& memory) {
  switch (how) {
    case Finish::none:
      return launch_one<kChannels, Finish::none>(stream, memory);
    case Finish::last_block:
      return launch_one<kChannels, Finish::last_block>(stream, memory);
    case Finish::last_of_8:
      return launch_one<kChannels, Finish::last_of_8>(stream, memory);
    case Finish::read_16:
      return launch_one<kChannels, Finish::read_16>(stream, memory);
    case Finish::read_128:
      return launch_one<kChannels, Finish::read_128>(stream, memory);
    case Finish::cluster_of_8:
      return launch(stream,
                    {.blocks = kFinishBlocks, .threads = kFinishThreads, .cluster = kFinishGroup},
                    cluster_kernel<kChannels>, memory);
  }
}

}  // namespace

void launch_finish(cudaStream_t stream, Finish how, int channels, const FinishMemory& memory) {
  channels == 16 ? launch_channels<16>(stream, how, memory)
                 : launch_channels<64>(stream, how, memory);
}

}  // namespace trainyard::probe
