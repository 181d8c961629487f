// The words of lane_maps.cuh: what a warp reads and writes.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"

namespace trainyard::probe {

/// Words of a warp's input: 32 rows of four words; then of each lane the row that it loads, a
/// number to shuffle, four factors a and two b in bf16, the same in fp16, and four sums. Factors
/// and sums are small whole numbers: their sums are exact in any order.
inline constexpr unsigned kMatrixWords = 32 * 4, kLaneInputs = 2 + 6 + 6 + 4;
inline constexpr unsigned kWarpInputs = kMatrixWords + 32 * kLaneInputs;

/// Words that a lane writes, by the instruction that they are of.
struct LanePart {
  const char* name;
  unsigned words;
};
inline constexpr LanePart kLaneParts[] = {{"ldmatrix.x4", 4}, {"ldmatrix.x4.trans", 4},
                                          {"shfl.down", 5},   {"shfl.bfly", 5},
                                          {"mma of bf16", 4}, {"mma of f16", 4}};
inline constexpr unsigned kLaneOutputs = 26;

/// Random words for so many warps.
inline std::vector<std::uint32_t> random_lane_words(unsigned warps) {
  std::mt19937 random(11);
  std::vector<std::uint32_t> words;
  const auto whole = [&] { return static_cast<float>(static_cast<int>(random() % 127) - 63); };
  const auto add_factors = [&]<class T>(T) {
    for (int i = 0; i < 6; ++i) {
      const std::uint32_t low = T(whole()).bits, high = T(whole()).bits;
      words.push_back(low | high << 16);
    }
  };
  for (unsigned warp = 0; warp < warps; ++warp) {
    for (unsigned i = 0; i < kMatrixWords; ++i) words.push_back(random());
    for (unsigned lane = 0; lane < 32; ++lane) {
      words.push_back(random() % 32);
      words.push_back(random());
      add_factors(BFloat16());
      add_factors(Float16());
      for (int i = 0; i < 4; ++i) {
        const float sum = whole();
        std::memcpy(&words.emplace_back(), &sum, sizeof(sum));
      }
    }
  }
  return words;
}

/// "shfl.down: lane 3, word 2 of a GPU is 5, of the emulator 6"; "" if all are equal.
inline std::string lane_difference(const std::vector<std::uint32_t>& gpu,
                                   const std::vector<std::uint32_t>& emulated) {
  for (std::size_t i = 0; i < gpu.size(); ++i) {
    if (gpu[i] == emulated[i]) continue;
    auto word = static_cast<unsigned>(i % kLaneOutputs);
    const LanePart* part = kLaneParts;
    for (; word >= part->words; ++part) word -= part->words;
    return std::string(part->name) + ": lane " + std::to_string(i / kLaneOutputs % 32) + ", word " +
           std::to_string(word) + " of a GPU is " + std::to_string(gpu[i]) + ", of the emulator " +
           std::to_string(emulated[i]);
  }
  return "";
}

}  // namespace trainyard::probe

/// What the emulator makes of the same input; it is compiled with other names (CMakeLists.txt).
extern "C" void emulate_lane_maps(unsigned warps, const std::uint32_t* from, std::uint32_t* to);
