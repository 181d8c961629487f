// The random words of a sample's augmentations.
#pragma once

#include <cstdint>

#include "base/philox.h"

namespace trainyard {

/// The random draws of a sample are pure functions of these.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;  // finished epochs
  std::int64_t index = 0;   // index of the sample in the data set, or drawn_sample()
};

/// The four words of call number `call` of the augmentation at place `draw` of the list: no two
/// augmentations, and no two of their calls, share any.
[[nodiscard]] inline Random4 augment_words(const SampleKey& key, std::uint32_t draw,
                                           std::uint32_t call = 0) {
  return random4(key.seed, RandomStream::augment, key.epoch, draw + (call << 16),
                 static_cast<std::uint64_t>(key.index));
}

/// Uniform in [low, high).
[[nodiscard]] inline double uniform(double low, double high, std::uint32_t word) {
  return low + (high - low) * static_cast<double>(uniform01(word));
}

/// True with this probability.
[[nodiscard]] inline bool happens(double probability, std::uint32_t word) {
  return static_cast<double>(uniform01(word)) < probability;
}

/// 0..last, all equally likely up to last / 2^32.
[[nodiscard]] inline std::int64_t drawn_index(std::int64_t last, std::uint32_t word) {
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(last + 1) * word) >> 32);
}

}  // namespace trainyard
