// The host's blocks (grid.h) detect what would fail on a GPU.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace trainyard::emulated {
namespace {

TEST_CASE("every thread of every block runs once") {
  std::vector<int> runs(3 * 40);
  CHECK(launch(3, 40, [&] { ++runs[blockIdx.x * 40 + threadIdx.x]; }) == cudaSuccess);
  CHECK(std::ranges::all_of(runs, [](int count) { return count == 1; }));
}

/// What each of 64 threads reads from its neighbour, which writes before or after.
std::vector<int> neighbours(Turns turns, bool with_barrier) {
  set_conduct({.turns = turns, .checked = false});
  std::vector<int> written(65), read(64);
  CHECK(launch(1, 64, [&] {
          written[threadIdx.x] = 1;
          if (with_barrier) __syncthreads();
          read[threadIdx.x] = written[threadIdx.x + 1];
        }) == cudaSuccess);
  set_conduct({});
  return read;
}

TEST_CASE("a missing barrier gives a wrong result in one order of turns") {
  const auto well = [](const std::vector<int>& read) { return std::ranges::count(read, 1) == 63; };
  CHECK(well(neighbours(Turns::ascending, true)));
  CHECK(well(neighbours(Turns::descending, true)));
  CHECK_FALSE(well(neighbours(Turns::ascending, false)));
}

/// The blocks and threads of a launch in the order in which they ran, as numbers.
std::vector<unsigned> order_of(const Conduct& conduct) {
  std::vector<unsigned> order;
  set_conduct({.turns = conduct.turns, .seed = conduct.seed, .checked = false});
  CHECK(launch(3, 4, [&] { order.push_back(blockIdx.x * 4 + threadIdx.x); }) == cudaSuccess);
  set_conduct({});
  return order;
}

TEST_CASE("blocks and threads run in the order that is asked for") {
  const std::vector<unsigned> ascending = order_of({.turns = Turns::ascending});
  CHECK(std::ranges::is_sorted(ascending));
  std::vector<unsigned> descending = order_of({.turns = Turns::descending});
  std::ranges::reverse(descending);
  CHECK(descending == ascending);
  std::vector<unsigned> shuffled = order_of({.turns = Turns::shuffled, .seed = 5});
  CHECK(shuffled == order_of({.turns = Turns::shuffled, .seed = 5}));
  CHECK(shuffled != order_of({.turns = Turns::shuffled, .seed = 6}));
  CHECK_FALSE(std::ranges::is_sorted(shuffled));
  std::ranges::sort(shuffled);
  CHECK(shuffled == ascending);
}

TEST_CASE("a launch is as good as any after one that was given up") {
  CHECK_THROWS_AS(static_cast<void>(launch(2, 64,
                                           [] {
                                             if (threadIdx.x < 32) __syncthreads();
                                           })),
                  Misuse);
  int runs[64] = {};
  CHECK(launch(1, 64, [&] {
          __syncthreads();
          ++runs[threadIdx.x];
        }) == cudaSuccess);
  CHECK(std::ranges::count(runs, 1) == 64);
}

TEST_CASE("a barrier that a thread never reaches is detected") {
  CHECK_THROWS_AS(static_cast<void>(launch(1, 64,
                                           [] {
                                             if (threadIdx.x != 5) __syncthreads();
                                           })),
                  Misuse);
}

TEST_CASE("a shuffle gives each lane the value further on, and the last lanes their own") {
  std::vector<double> got(64);
  CHECK(launch(1, 64, [&] {
          got[threadIdx.x] = __shfl_down_sync(0xffffffffu, 0.5 + threadIdx.x, 4);
        }) == cudaSuccess);
  for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == 0.5 + (i % 32 < 28 ? i + 4 : i));
}

TEST_CASE("an exchange gives each lane the value of the one whose number differs in a bit") {
  std::vector<std::uint32_t> got(64);
  CHECK(launch(1, 64, [&] { got[threadIdx.x] = __shfl_xor_sync(0xffffffffu, threadIdx.x, 4); }) ==
        cudaSuccess);
  for (unsigned i = 0; i < 64; ++i) CHECK(got[i] == (i ^ 4));
}

TEST_CASE("a shuffle that a lane of its mask misses, or whose mask lacks a lane, is detected") {
  const auto shuffle = [](unsigned mask, unsigned lanes) {
    static_cast<void>(launch(1, 32, [&] {
      if (threadIdx.x < lanes) static_cast<void>(__shfl_down_sync(mask, 1.0f, 1));
    }));
  };
  CHECK_NOTHROW(shuffle(0xffffffffu, 32));
  CHECK_THROWS_AS(shuffle(0xffffffffu, 31), Misuse);
  CHECK_THROWS_AS(shuffle(0x0000ffffu, 16), Misuse);
}

TEST_CASE("a launch that CUDA would refuse is refused") {
  const auto nothing = [] {};
  CHECK(launch(0, 32, nothing) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(launch(1, 1025, nothing) == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
}

}  // namespace
}  // namespace trainyard::emulated
