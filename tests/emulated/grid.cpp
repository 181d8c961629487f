#include "grid.h"

#include <sanitizer/asan_interface.h>
#include <ucontext.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accesses.h"

ThreadIndex threadIdx, blockIdx, gridDim;

namespace trainyard::emulated {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 17;

enum class State { ready, at_barrier, at_shuffle, ended };

/// A thread of the block: a separate context, which continues when it is resumed. It is entered by
/// setcontext(), which enters the kernel for the signal mask, and from then on by _longjmp(), which
/// does not; so it is kept for the threads of later blocks.
struct Lane {
  State state = State::ended;
  bool entered = false;
  unsigned mask = 0,
           from = 0;       // lanes of the shuffle it waits in: the lane that it gets the bits of
  std::uint64_t bits = 0;  // its input to the shuffle, then its result
  ucontext_t context{};
  std::jmp_buf place{};
  std::unique_ptr<std::byte[]> stack = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
};

/// One block at a time, whose threads share one host thread.
class Block {
 public:
  /// For launches of so many threads.
  void resize(unsigned threads);
  /// Runs `thread` on every thread, in the order given.
  void run(const std::function<void()>& thread, const std::vector<unsigned>& order);
  /// For the running thread: suspends it until it is released, while the others run.
  void wait(State state) {
    Lane& lane = running();
    lane.state = state;
    if (_setjmp(lane.place) == 0) _longjmp(scheduler_, 1);
  }
  [[nodiscard]] Lane& running() { return *lanes_[threadIdx.x]; }
  /// The body of a thread of one block after another.
  [[noreturn]] void live() {
    while (true) {
      (*thread_)();
      accesses.note_end();
      wait(State::ended);
    }
  }

 private:
  [[nodiscard]] std::span<const std::unique_ptr<Lane>> lanes() const {
    return {lanes_.data(), threads_};
  }
  [[nodiscard]] bool waits() {
    return std::ranges::any_of(lanes(),
                               [](const auto& lane) { return lane->state != State::ended; });
  }
  void resume(unsigned thread);
  /// Makes threads ready whose wait is over.
  void release();
  [[nodiscard]] bool release_barrier();
  [[nodiscard]] bool release_shuffle(unsigned first);
  void exchange(unsigned first, unsigned lanes, unsigned mask);

  unsigned threads_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;  // as many as any launch had threads
  std::jmp_buf scheduler_{};
  const std::function<void()>* thread_ = nullptr;
};

/// "descending", or "shuffled:3" with a seed; for programs whose tests choose none.
Conduct conduct_of_environment() {
  const char* const variable = std::getenv("EMULATED_TURNS");
  const std::string_view name = variable == nullptr ? "ascending" : variable;
  constexpr std::string_view kShuffled = "shuffled:";
  if (name == "ascending") return kConducts[0];
  if (name == "descending") return kConducts[1];
  if (!name.starts_with(kShuffled)) throw Misuse("EMULATED_TURNS is " + std::string(name));
  Conduct shuffled = kConducts[2];
  shuffled.seed = static_cast<unsigned>(std::stoul(std::string(name.substr(kShuffled.size()))));
  return shuffled;
}

// C functions, such as the kernels', can access only global variables.
Conduct conduct = conduct_of_environment();
std::minstd_rand shuffles{conduct.seed};
cudaError_t last_error = cudaSuccess;
cudaFuncAttributes code = {.ptxVersion = 90, .binaryVersion = 90};
bool overlapping = false;
Block block;

void live_in_block() { block.live(); }

/// The numbers from `first` on, in the order of the conduct.
std::vector<unsigned> in_turn(unsigned first, unsigned count) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), first);
  if (conduct.turns == Turns::descending) std::ranges::reverse(order);
  if (conduct.turns == Turns::shuffled) std::ranges::shuffle(order, shuffles);
  return order;
}

void Block::resize(unsigned threads) {
  threads_ = threads;
  while (lanes_.size() < threads) lanes_.push_back(std::make_unique<Lane>());
}

void Block::run(const std::function<void()>& thread, const std::vector<unsigned>& order) {
  thread_ = &thread;
  for (const auto& lane : lanes()) {
    lane->entered &= lane->state == State::ended;  // or it is from a kernel that was given up
    lane->state = State::ready;
  }
  while (waits()) {
    for (const unsigned i : order) resume(i);
    release();
  }
}

void Block::resume(unsigned thread) {
  Lane& lane = *lanes_[thread];
  if (lane.state != State::ready) return;
  threadIdx.x = thread;
  const auto stack = reinterpret_cast<std::uintptr_t>(lane.stack.get());
  accesses.enter(thread, {stack, kStackBytes});
  if (_setjmp(scheduler_) != 0) return Accesses::leave();  // the thread waits, or has ended
  if (lane.entered) _longjmp(lane.place, 1);
  lane.entered = true;
  ASAN_UNPOISON_MEMORY_REGION(lane.stack.get(), kStackBytes);  // frames that were given up
  getcontext(&lane.context);
  lane.context.uc_stack = {.ss_sp = lane.stack.get(), .ss_flags = 0, .ss_size = kStackBytes};
  lane.context.uc_link = nullptr;
  makecontext(&lane.context, live_in_block, 0);
  setcontext(&lane.context);
}

void Block::release() {
  bool any = release_barrier();
  for (unsigned first = 0; first < threads_; first += kWarp) any |= release_shuffle(first);
  if (waits() && !any) throw Misuse("threads wait for others of their block that do not arrive");
}

bool Block::release_barrier() {
  const auto here = [](const auto& lane) { return lane->state == State::at_barrier; };
  if (!std::ranges::all_of(lanes(), here)) return false;
  for (const auto& lane : lanes()) lane->state = State::ready;
  accesses.pass_barrier();
  return true;
}

bool Block::release_shuffle(unsigned first) {
  const unsigned lanes = std::min(kWarp, threads_ - first);
  unsigned here = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    if (lanes_[first + i]->state == State::at_shuffle) here |= 1u << i;
  }
  if (here == 0) return false;
  const unsigned mask = lanes_[first + static_cast<unsigned>(std::countr_zero(here))]->mask;
  if ((here & mask) != mask) return false;
  exchange(first, lanes, mask);
  return true;
}

void Block::exchange(unsigned first, unsigned lanes, unsigned mask) {
  std::uint64_t got[kWarp] = {};
  for (unsigned i = 0; i < lanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const Lane& lane = *lanes_[first + i];
    if (lane.mask != mask || (mask >> lane.from & 1) == 0) {
      throw Misuse("lane " + std::to_string(i) + " shuffles with one outside its mask");
    }
    got[i] = lanes_[first + lane.from]->bits;
  }
  for (unsigned i = 0; i < lanes; ++i) {
    if ((mask >> i & 1) == 0) continue;
    lanes_[first + i]->bits = got[i];
    lanes_[first + i]->state = State::ready;
  }
}

/// For the running thread: the bits of the lane `from` of its warp.
std::uint64_t shuffle(unsigned mask, std::uint64_t bits, unsigned from) {
  Lane& lane = block.running();
  lane.mask = mask;
  lane.from = from;
  lane.bits = bits;
  block.wait(State::at_shuffle);
  return lane.bits;
}

template <class T>
void note_atomic(const T* at, const void* instruction) {
  if (watching == nullptr) return;
  watching->note({reinterpret_cast<std::uintptr_t>(at), sizeof *at}, Access::atomic, instruction);
}

}  // namespace

void set_conduct(const Conduct& wanted) {
  conduct = wanted;
  shuffles.seed(conduct.seed);
}

cudaError_t launch(unsigned blocks, unsigned threads, const std::function<void()>& thread,
                   const std::string& name, bool overlaps) {
  if (blocks == 0 || blocks > kMostBlocks || threads == 0 || threads > kMostThreads) {
    return last_error = cudaErrorInvalidConfiguration;
  }
  block.resize(threads);
  gridDim.x = blocks;
  overlapping = overlaps;
  accesses.begin_launch(name, threads, conduct.checked, overlaps);
  const unsigned run = std::min(blocks, conduct.last_blocks);
  std::vector<unsigned> order = in_turn(0, threads);
  for (const unsigned i : in_turn(blocks - run, run)) {
    blockIdx.x = i;
    accesses.begin_block(i);
    block.run(thread, order);
    if (conduct.turns == Turns::shuffled) std::ranges::shuffle(order, shuffles);
  }
  if (!accesses.finding().empty()) throw Misuse(accesses.finding());
  return cudaSuccess;
}

bool last_launch_overlaps() { return overlapping; }

void set_code(int ptx, int binary) { code = {ptx, binary}; }

void wait_for_launches() { accesses.note_wait(); }

void fence() { accesses.note_fence(); }

unsigned count_up(unsigned* number, unsigned most) {
  note_atomic(number, __builtin_return_address(0));
  accesses.note_arrival(number);
  const unsigned before = *number;
  *number = before >= most ? 0 : before + 1;
  return before;
}

void lower_to(unsigned long long* least, unsigned long long value) {
  note_atomic(least, __builtin_return_address(0));
  *least = std::min(*least, value);
}

void raise_to(unsigned long long* most, unsigned long long value) {
  note_atomic(most, __builtin_return_address(0));
  *most = std::max(*most, value);
}

void wait_for_block() { block.wait(State::at_barrier); }

std::uint64_t shuffle_down(unsigned mask, std::uint64_t bits, unsigned delta) {
  const unsigned own = threadIdx.x % kWarp;
  return shuffle(mask, bits, own + delta < kWarp ? own + delta : own);
}

std::uint64_t shuffle_xor(unsigned mask, std::uint64_t bits, unsigned difference) {
  return shuffle(mask, bits, threadIdx.x % kWarp ^ difference);
}

}  // namespace trainyard::emulated

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* code, const void* /*kernel*/) {
  *code = trainyard::emulated::code;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  return std::exchange(trainyard::emulated::last_error, cudaSuccess);
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorInvalidConfiguration";
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "invalid configuration argument";
}
