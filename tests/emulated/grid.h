// Blocks of CUDA threads on the host, one block after the other. The threads of a block take turns:
// each goes on until it waits for others or ends, in an order that the test chooses, so that a
// result that relies on a barrier that is not there is wrong in every run, or in every run of the
// other order.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>

#include "cuda_runtime_api.h"

/// What the running thread sees of itself. Launches have one dimension.
struct ThreadIndex {
  unsigned x = 0;
};
extern ThreadIndex threadIdx, blockIdx;

namespace trainyard::emulated {

inline constexpr unsigned kWarp = 32;
/// What CUDA allows: threads a block, blocks a launch.
inline constexpr unsigned kMostThreads = 1024, kMostBlocks = 0x7fffffff;

/// The kernel did what leaves a GPU hanging or with undefined values.
struct Misuse : std::logic_error {
  using std::logic_error::logic_error;
};

enum class Turns { ascending, descending };

/// How launches are carried out from now on.
struct Conduct {
  Turns turns = Turns::ascending;
  /// Only so many of a launch's last blocks are run, for launches that are too large to run whole.
  unsigned last_blocks = kMostBlocks;
};
void set_conduct(const Conduct& conduct);

/// Runs `thread` on every thread of every block. Answers, and keeps as the last error, whether CUDA
/// takes such a launch. Throws Misuse.
cudaError_t launch(unsigned blocks, unsigned threads, const std::function<void()>& thread);

// For the running thread.

/// Returns when all threads of the block have called it. One that has ended never will: Misuse.
void wait_for_block();
/// Returns when all lanes that `mask` names have called it with the same mask, `bits` of the lane
/// `delta` further on, or its own where the warp has none. A lane that is asked for and not named
/// by the mask: Misuse.
[[nodiscard]] std::uint64_t shuffle_down(unsigned mask, std::uint64_t bits, unsigned delta);

}  // namespace trainyard::emulated
