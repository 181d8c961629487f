#include "grid.h"

#include <sanitizer/asan_interface.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

ThreadIndex threadIdx, blockIdx, gridDim;

namespace trainyard::emulated {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 17;

enum class State { ready, at_barrier, at_shuffle, ended };

/// A thread of the block: a separate context, which continues when it is resumed. It is entered by
/// setcontext(), which enters the kernel for the signal mask, and from then on by _longjmp(), which
/// does not.
struct Lane {
  State state = State::ready;
  bool entered = false;
  unsigned mask = 0, from = 0;  // of the shuffle it waits in: the lane that it gets the bits of
  std::uint64_t bits = 0;       // its input to the shuffle, then its result
  ucontext_t context{};
  std::jmp_buf place{};
};

// Of the threads of any block. Tests whose launches allocate their own take twice as long.
std::vector<std::unique_ptr<std::byte[]>> stacks;

/// One block at a time, whose threads share one host thread.
class Block {
 public:
  explicit Block(unsigned threads) : lanes_(threads) {
    while (stacks.size() < threads) {
      stacks.push_back(std::make_unique_for_overwrite<std::byte[]>(kStackBytes));
    }
  }

  void run(const std::function<void()>& thread, Turns turns) {
    thread_ = &thread;
    for (std::size_t i = 0; i < lanes_.size(); ++i) start(lanes_[i], stacks[i].get());
    while (std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.state != kEnded; })) {
      take_turns(turns);
      release();
    }
  }
  /// For the running thread: suspends it until it is released, while the others run.
  void wait(State state) {
    Lane& lane = running();
    lane.state = state;
    if (_setjmp(lane.place) == 0) _longjmp(scheduler_, 1);
  }
  [[nodiscard]] Lane& running() { return lanes_[threadIdx.x]; }
  /// The body of a thread.
  void live() {
    (*thread_)();
    wait(kEnded);
  }

 private:
  static constexpr State kEnded = State::ended;

  void start(Lane& lane, std::byte* stack);
  void take_turns(Turns turns);
  void resume(unsigned thread) {
    Lane& lane = lanes_[thread];
    if (lane.state != State::ready) return;
    threadIdx.x = thread;
    if (_setjmp(scheduler_) != 0) return;  // the thread waits, or has ended
    if (lane.entered) _longjmp(lane.place, 1);
    lane.entered = true;
    setcontext(&lane.context);
  }
  /// Makes threads ready whose wait is over.
  void release();
  [[nodiscard]] bool release_barrier();
  [[nodiscard]] bool release_shuffle(unsigned first);
  void exchange(unsigned first, unsigned lanes, unsigned mask);

  std::vector<Lane> lanes_;
  std::jmp_buf scheduler_{};
  const std::function<void()>* thread_ = nullptr;
};

/// For programs whose tests choose none.
Turns turns_of_environment() {
  const char* const name = std::getenv("EMULATED_TURNS");
  const bool descending = name != nullptr && std::string_view(name) == "descending";
  return descending ? Turns::descending : Turns::ascending;
}

// C functions, such as the kernels', can access only global variables.
Conduct conduct = {.turns = turns_of_environment()};
cudaError_t last_error = cudaSuccess;
Block* block = nullptr;  // the running one

void live_in_block() { block->live(); }

void Block::start(Lane& lane, std::byte* stack) {
  ASAN_UNPOISON_MEMORY_REGION(stack, kStackBytes);  // frames of the thread that had it
  lane.state = State::ready;
  lane.entered = false;
  getcontext(&lane.context);
  lane.context.uc_stack = {.ss_sp = stack, .ss_flags = 0, .ss_size = kStackBytes};
  lane.context.uc_link = nullptr;
  makecontext(&lane.context, live_in_block, 0);
}

void Block::take_turns(Turns turns) {
  const auto threads = static_cast<unsigned>(lanes_.size());
  for (unsigned i = 0; i < threads; ++i) {
    resume(turns == Turns::ascending ? i : threads - 1 - i);
  }
}

void Block::release() {
  bool any = release_barrier();
  for (unsigned first = 0; first < lanes_.size(); first += kWarp) any |= release_shuffle(first);
  const bool waiting =
      std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.state != kEnded; });
  if (waiting && !any) throw Misuse("threads wait for others of their block that do not arrive");
}

bool Block::release_barrier() {
  const auto waits = [](const Lane& lane) { return lane.state == State::at_barrier; };
  if (!std::ranges::all_of(lanes_, waits)) return false;
  for (Lane& lane : lanes_) lane.state = State::ready;
  return true;
}

bool Block::release_shuffle(unsigned first) {
  const unsigned lanes = std::min(kWarp, static_cast<unsigned>(lanes_.size()) - first);
  unsigned here = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    if (lanes_[first + i].state == State::at_shuffle) here |= 1u << i;
  }
  if (here == 0) return false;
  const unsigned mask = lanes_[first + static_cast<unsigned>(std::countr_zero(here))].mask;
  if ((here & mask) != mask) return false;
  exchange(first, lanes, mask);
  return true;
}

void Block::exchange(unsigned first, unsigned lanes, unsigned mask) {
  std::uint64_t got[kWarp] = {};
  for (unsigned i = 0; i < lanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const Lane& lane = lanes_[first + i];
    if (lane.mask != mask || (mask >> lane.from & 1) == 0) {
      throw Misuse("lane " + std::to_string(i) + " shuffles with one outside its mask");
    }
    got[i] = lanes_[first + lane.from].bits;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    lanes_[first + i].bits = got[i];
    lanes_[first + i].state = State::ready;
  }
}

/// For the running thread: the bits of the lane `from` of its warp.
std::uint64_t shuffle(unsigned mask, std::uint64_t bits, unsigned from) {
  Lane& lane = block->running();
  lane.mask = mask;
  lane.from = from;
  lane.bits = bits;
  block->wait(State::at_shuffle);
  return lane.bits;
}

}  // namespace

void set_conduct(const Conduct& wanted) { conduct = wanted; }

cudaError_t launch(unsigned blocks, unsigned threads, const std::function<void()>& thread) {
  if (blocks == 0 || blocks > kMostBlocks || threads == 0 || threads > kMostThreads) {
    return last_error = cudaErrorInvalidConfiguration;
  }
  Block all(threads);
  block = &all;
  gridDim.x = blocks;
  for (unsigned i = blocks - std::min(blocks, conduct.last_blocks); i < blocks; ++i) {
    blockIdx.x = i;
    all.run(thread, conduct.turns);
  }
  block = nullptr;
  return cudaSuccess;
}

void wait_for_block() { block->wait(State::at_barrier); }

std::uint64_t shuffle_down(unsigned mask, std::uint64_t bits, unsigned delta) {
  const unsigned own = threadIdx.x % kWarp;
  return shuffle(mask, bits, own + delta < kWarp ? own + delta : own);
}

std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned difference) {
  return shuffle(mask, bits, threadIdx.x % kWarp ^ difference);
}

}  // namespace trainyard::emulated

cudaError_t cudaGetLastError() {
  return std::exchange(trainyard::emulated::last_error, cudaSuccess);
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorInvalidConfiguration";
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "invalid configuration argument";
}
