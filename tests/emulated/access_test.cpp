// Defects of kernels that may leave the right values: the checks of accesses (accesses.h) report
// them, in every order of blocks and threads.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "launcher/cuda_launch.cuh"

namespace trainyard::emulated {
namespace {

constexpr unsigned kBlocks = 3, kThreads = 64;

/// What a launch is reported for, "" for nothing.
std::string report_of(const std::function<void()>& thread, Turns turns = Turns::ascending) {
  std::string text;
  set_conduct({.turns = turns});
  try {
    CHECK(launch(kBlocks, kThreads, thread) == cudaSuccess);
  } catch (const Misuse& misuse) {
    text = misuse.what();
  }
  set_conduct({});
  return text;
}

/// Requires that the report has all of these words, or is "" if there are none.
void check_report(const std::function<void()>& thread, const std::vector<std::string>& words) {
  for (const Conduct& conduct : kConducts) {
    const std::string text = report_of(thread, conduct.turns);
    CAPTURE(text);
    CHECK(text.empty() == words.empty());
    for (const std::string& word : words) CHECK(text.find(word) != std::string::npos);
  }
}

/// Each thread writes a number, and reads its neighbour's.
void pass_on(const std::function<void()>& between) {
  __shared__ unsigned numbers[kThreads];
  numbers[threadIdx.x] = threadIdx.x;
  between();
  const volatile unsigned* const neighbour = &numbers[threadIdx.x ^ 1];
  static_cast<void>(*neighbour);
}

TEST_CASE("shared memory that is read without a barrier is reported, with both threads") {
  check_report([] { pass_on(__syncthreads); }, {});
  const auto shuffle = [] { static_cast<void>(__shfl_down_sync(0xffffffffu, 1.0f, 1)); };
  check_report([&] { pass_on(shuffle); },  // which orders threads, and no memory
               {"a launch: thread ", " reads byte ", " of shared memory, which thread ",
                " has written, and no barrier is between (addr2line -fCe PROGRAM 0x"});
  CHECK(report_of([&] {
          pass_on(shuffle);
        }).starts_with("a launch: thread 0 of block 0 reads byte "));
}

TEST_CASE("shared memory that is written while others may read it is reported") {
  const auto sum_twice = [](bool with_barrier) {
    __shared__ unsigned numbers[kThreads];
    numbers[threadIdx.x] = 1;
    __syncthreads();
    const volatile unsigned* const first = numbers;
    const unsigned before = *first;
    if (with_barrier) __syncthreads();
    if (threadIdx.x == 0) numbers[0] = before + 1;
  };
  check_report([=] { sum_twice(true); }, {});
  check_report([=] { sum_twice(false); },
               {" of shared memory, which thread ", "and no barrier is between"});
}

TEST_CASE("shared memory that the block has not written is reported, and is not as it was left") {
  std::vector<float> seen(kBlocks);
  const auto read = [&](bool writes) {
    __shared__ float number;
    if (threadIdx.x != 0) return;
    if (writes) number = 1;
    seen[blockIdx.x] = number;
  };
  check_report([=] { read(true); }, {});
  check_report([=] { read(false); }, {" of shared memory, which its block has not written"});
  for (const float number : seen) CHECK(number != number);
}

TEST_CASE("global memory of two blocks without a counter, or two threads, is reported") {
  std::vector<int> numbers(kBlocks + 1), all(kBlocks * kThreads);
  check_report([&] { all[blockIdx.x * kThreads + threadIdx.x] = numbers[0]; }, {});
  check_report(
      [&] {
        if (threadIdx.x == 5) numbers[0] = 1;  // the same in every block
      },
      {"thread 5 of block 1 ", " writes global memory at 0x", "which thread 5 of block ",
       " has written, and no counter is between"});
  check_report(
      [&] {
        if (threadIdx.x == 0) numbers[blockIdx.x] = numbers[blockIdx.x + 1];
      },
      {" global memory at 0x", ", and no counter is between"});
  check_report([&] { all[blockIdx.x * kThreads + threadIdx.x / 2] = 1; },
               {" writes global memory at 0x", " has written, and no barrier is between"});
}

/// What a block does between writing its number and reading those of all, if it is the last.
struct Steps {
  bool fence = true, barrier = true, fence_after = true;
};

void sum_of_blocks(unsigned* counter, unsigned* numbers, const Steps& steps) {
  __shared__ bool last;
  if (threadIdx.x == 1) numbers[blockIdx.x] = 1;
  if (steps.fence) __threadfence();
  if (steps.barrier) __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(counter, kBlocks - 1) == kBlocks - 1;
  __syncthreads();
  if (steps.fence_after) __threadfence();
  if (!last || threadIdx.x != 2) return;
  for (unsigned block = 0; block < kBlocks; ++block) numbers[kBlocks] += numbers[block];
}

TEST_CASE("a counter orders blocks with a fence and a barrier before it, and a fence after it") {
  unsigned counter = 0;
  std::vector<unsigned> numbers(kBlocks + 1);
  const auto check = [&](const Steps& steps, const std::vector<std::string>& words) {
    counter = 0;
    check_report([&] { sum_of_blocks(&counter, numbers.data(), steps); }, words);
  };
  check({}, {});
  check({.fence = false}, {"thread 0 of block ",
                           " counts its block, and no fence is behind what thread 1 has written"});
  check({.barrier = false}, {"thread 2 of block ", "which thread 1 of block ", " has written"});
  check({.fence_after = false}, {"thread 2 of block ", ", and no counter is between"});
}

TEST_CASE("atomic operations do not race with each other, but with others") {
  unsigned long long most = 0, seen[kBlocks] = {};
  check_report([&] { atomicMax(&most, threadIdx.x); }, {});
  check_report(
      [&] {
        atomicMax(&most, threadIdx.x);
        if (threadIdx.x == 0) seen[blockIdx.x] = most;
      },
      {" global memory at 0x"});
}

struct WritesTwice {
  float* out;
  TY_HD void operator()(std::int64_t i) const { out[i / 2] = 1; }
};

/// Static, as a kernel's parameters are not global memory: how many threads wait, and when.
unsigned waiting = 0;
bool at_once = true;
unsigned* numbers = nullptr;

void write_number() {
  __shared__ unsigned own[kThreads];
  own[threadIdx.x] = 1;  // which no other launch can see
  const bool waits = threadIdx.x < waiting;
  if (waits && at_once) wait_for_predecessors();
  numbers[blockIdx.x * kThreads + threadIdx.x] = own[threadIdx.x];
  if (waits) wait_for_predecessors();
}

TEST_CASE("a launch that may begin early waits in every thread, before it touches global memory") {
  std::vector<unsigned> memory(kBlocks * kThreads);
  numbers = memory.data();
  const auto launched = [](unsigned threads, bool first) {
    waiting = threads;
    at_once = first;
    static_cast<void>(launch(kBlocks, kThreads, write_number, "a launch", true));
  };
  CHECK_NOTHROW(launched(kThreads, true));
  CHECK_THROWS_WITH(launched(kThreads, false),
                    doctest::Contains("thread 0 of block 0 accesses global memory at 0x"));
  CHECK_THROWS_WITH(launched(kThreads, false),
                    doctest::Contains(" before it waits for the launches before its own"));
  CHECK_THROWS_WITH(launched(kThreads - 1, true),
                    doctest::Contains("thread 63 of block 0 accesses "));
  CHECK_THROWS_WITH(static_cast<void>(launch(
                        1, 1, [] {}, "a launch", true)),
                    doctest::Contains("thread 0 of block 0 ends and has not waited for the "));
}

TEST_CASE("a report names the functor") {
  std::vector<float> out(10);
  std::string text;
  try {
    CudaLauncher(nullptr).each(20, WritesTwice{out.data()});
  } catch (const Misuse& misuse) {
    text = misuse.what();
  }
  CHECK(text.find("WritesTwice, long int: thread 1 of block 0 writes global memory at ") !=
        std::string::npos);
}

TEST_CASE("a launch that is not checked reports nothing") {
  int number = 0;
  set_conduct({.checked = false});
  CHECK_NOTHROW(static_cast<void>(launch(kBlocks, kThreads, [&] { ++number; })));
  set_conduct({});
}

}  // namespace
}  // namespace trainyard::emulated
