// The probe's kernels, emulated: what they are timed for is what they compute.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "conv_tile.cuh"
#include "convolution.h"
#include "finish.cuh"
#include "grid.h"
#include "lane_maps.cuh"

using namespace trainyard;
using namespace trainyard::probe;

namespace {

template <class Work>
void in_all_orders(const Work& work) {
  for (const emulated::Conduct& conduct : emulated::kConducts) {
    emulated::set_conduct(conduct);
    work();
  }
  emulated::set_conduct({});
}

template <int kChannels>
void check_tile() {
  __shared__ Unit shared[TileShape<kChannels>::kBytes / sizeof(Unit)];
  const WholeConvolution whole(kChannels);
  in_all_orders([&] {
    std::vector<float> sums(whole.sums(), NAN);
    REQUIRE(emulated::launch(1, kTileThreads, [&] {
              run_tile<BFloat16, kChannels>(shared, reinterpret_cast<const Unit*>(whole.map.data()),
                                            reinterpret_cast<const Unit*>(whole.weights.data()), 1,
                                            sums.data());
            }) == cudaSuccess);
    CHECK(whole.difference(sums) == "");
  });
}

/// Eight rows of a matrix are in all of the 32 banks of four bytes.
template <int kChannels>
bool conflicts() {
  using Shape = TileShape<kChannels>;
  for (unsigned row = 0; row < Shape::kWide * Shape::kWide - 8; ++row) {
    for (unsigned unit = 0; unit < Shape::kUnits; ++unit) {
      unsigned banks = 0;  // banks of four words
      for (unsigned i = 0; i < 8; ++i) banks |= 1u << Shape::place(row + i, unit) % 8;
      if (banks != 0xff) return true;
    }
  }
  return false;
}

template <int kChannels, Finish kHow>
void check_finish() {
  std::vector<PairSum> before, partials(kFinishBlocks * kChannels), groups(16 * kChannels),
      results(kChannels);
  for (unsigned i = 0; i < kFinishBlocks * kChannels; ++i) {
    before.push_back(block_sum(i / kChannels, i % kChannels));
  }
  std::vector<std::uint32_t> counters(16);
  const FinishMemory memory{before.data(), partials.data(), groups.data(), results.data(),
                            counters.data()};
  REQUIRE(emulated::launch(kFinishBlocks, kFinishThreads,
                           [&] { finish_kernel<kChannels, kHow>(memory); }) == cudaSuccess);
  const bool grouped = kHow == Finish::last_of_8;
  for (unsigned i = 0; i < (grouped ? groups : results).size(); ++i) {
    const PairSum expected =
        grouped ? expected_group(i / kChannels, i % kChannels) : expected_result(kHow, i);
    const PairSum found = (grouped ? groups : results)[i];
    CHECK(found.first == expected.first);
    CHECK(found.second == expected.second);
  }
  CHECK(partials[5 * kChannels + 7].first == 13);
  CHECK(std::ranges::all_of(counters, [](std::uint32_t count) { return count == 0; }));
}

template <int kChannels>
void check_finishes() {
  in_all_orders([] {
    check_finish<kChannels, Finish::last_block>();
    check_finish<kChannels, Finish::last_of_8>();
    check_finish<kChannels, Finish::read_16>();
    check_finish<kChannels, Finish::read_128>();
  });
}

/// The words that an instruction leaves in the lanes of one warp.
struct Lanes {
  std::vector<std::uint32_t> from = random_lane_words(1);
  std::vector<std::uint32_t> to = std::vector<std::uint32_t>(32 * kLaneOutputs);
  Lanes() {
    REQUIRE(emulated::launch(1, 32, [&] { lane_maps_kernel(from.data(), to.data()); }) ==
            cudaSuccess);
  }
  [[nodiscard]] std::uint32_t word(unsigned lane, unsigned i) const {
    return to[lane * kLaneOutputs + i];
  }
  [[nodiscard]] const std::uint32_t* input(unsigned lane) const {
    return &from[kMatrixWords + lane * kLaneInputs];
  }
  /// Number `column` of the row that a lane loads.
  [[nodiscard]] std::uint32_t number(unsigned lane, unsigned column) const {
    return from[input(lane)[0] * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
  }
};

}  // namespace

TEST_CASE("tiles of 16, 32 and 64 channels are convolutions") {
  check_tile<16>();
  check_tile<32>();
  check_tile<64>();
}

TEST_CASE("neighbouring rows of a matrix are in different banks") {
  CHECK_FALSE(conflicts<16>());
  CHECK_FALSE(conflicts<32>());
  CHECK_FALSE(conflicts<64>());
}

TEST_CASE("sums over blocks are finished in every way") {
  const PairSum mean = expected_result(Finish::read_16, 2);  // mean of 3 to 18
  CHECK(mean.first == 10.5);
  CHECK(mean.second == doctest::Approx(1 / std::sqrt(21.25 + 1)).epsilon(1e-6));
  check_finishes<16>();
  check_finishes<64>();
}

TEST_CASE("the emulator's lanes have what PTX says") {
  const Lanes lanes;
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = i * 8 + lane / 4, column = lane % 4 * 2;
      CHECK(lanes.word(lane, i) ==
            (lanes.number(row, column) | lanes.number(row, column + 1) << 16));
      const unsigned first = i * 8 + lane % 4 * 2;
      CHECK(lanes.word(lane, 4 + i) ==
            (lanes.number(first, lane / 4) | lanes.number(first + 1, lane / 4) << 16));
    }
    for (unsigned level = 0; level < 5; ++level) {
      const unsigned step = 1u << level, down = lane + step < 32 ? lane + step : lane;
      CHECK(lanes.word(lane, 8 + level) == lanes.input(down)[1]);
      CHECK(lanes.word(lane, 13 + level) == lanes.input(lane ^ step)[1]);
    }
  }
}

TEST_CASE("a difference between a GPU and the emulator is named") {
  const Lanes lanes;
  std::vector<std::uint32_t> changed = lanes.to;
  CHECK(lane_difference(changed, lanes.to) == "");
  changed[3 * kLaneOutputs + 10] ^= 1;
  CHECK(lane_difference(changed, lanes.to).starts_with("shfl.down: lane 3, word 2 of a GPU is "));
}
