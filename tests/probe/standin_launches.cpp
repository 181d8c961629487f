// Replaces the probe's .cu files: launches that have the same results, without the kernels.
#include <cstring>
#include <functional>

#include "convolution.h"
#include "device/cuda/check.h"
#include "finish_sums.h"
#include "lane_words.h"
#include "launches.h"
#include "measurements.h"
#include "runtime/kinds.h"

namespace trainyard::probe {

bool launches_do_nothing = false;

namespace {

void enqueue(cudaStream_t stream, unsigned blocks, unsigned threads,
             const std::function<void()>& work) {
  const standin::Kernel kernel{"probe", stream, blocks, threads, "a kernel of the probe"};
  cuda::check(standin::launch_kernel(kernel,
                                     [work] {
                                       if (!launches_do_nothing) work();
                                       return true;
                                     }),
              "a launch");
}

void finish(Finish how, int channels, const FinishMemory& memory) {
  for (int c = 0; c < channels; ++c) {
    for (unsigned group = 0; group < kFinishBlocks / kFinishGroup; ++group) {
      memory.groups[group * channels + c] = expected_group(group, c);
    }
    memory.results[c] = expected_result(how, c);
  }
}

void convolve(int channels, const TileMemory& memory) {
  const WholeConvolution whole(channels);
  const int count = whole.side * whole.side * channels;
  for (int i = 0; i < count; ++i) memory.sums[i] = whole.at(i / channels, i % channels);
  if (channels == 64) std::memset(memory.sums + count, 0, count * sizeof(float));
}

}  // namespace

void launch_empty(cudaStream_t stream, const EmptyLaunch& launch) {
  enqueue(stream, launch.blocks, launch.threads, [] {});
}

void launch_clocks(cudaStream_t stream, unsigned blocks, ClockReading* reading) {
  enqueue(stream, blocks, 1024, [reading] { *reading = {3'600'000, 2'000'000}; });
}

// Copies nothing: the bytes that a real one moves in seven replays take seconds here.
void launch_copy(cudaStream_t stream, void* /*to*/, const void* /*from*/, std::size_t bytes) {
  enqueue(stream, static_cast<unsigned>(bytes >> 14), 256, [] {});
}

void launch_finish(cudaStream_t stream, Finish how, int channels, const FinishMemory& memory) {
  enqueue(stream, kFinishBlocks, 256, [=] { finish(how, channels, memory); });
}

void launch_tile(cudaStream_t stream, int channels, unsigned blocks, int repeats,
                 const TileMemory& memory) {
  enqueue(stream, blocks, 256, [=] {
    if (repeats == 1) convolve(channels, memory);  // the others are not looked at
  });
}

void launch_work(cudaStream_t stream, const WorkLaunch& launch) {
  enqueue(stream, launch.blocks, 256, [launch] {
    if (launch.processors == nullptr) return;
    // On 100 processors, of which 28 have two blocks.
    for (unsigned i = 0; i < launch.blocks; ++i) {
      launch.processors[i] = static_cast<std::uint16_t>(i % 100);
    }
  });
}

int work_registers() { return 126; }

void launch_lane_maps(cudaStream_t stream, unsigned warps, const std::uint32_t* from,
                      std::uint32_t* to) {
  enqueue(stream, warps, 32, [=] { emulate_lane_maps(warps, from, to); });
}

}  // namespace trainyard::probe
