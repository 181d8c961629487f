// Samples drawn from random numbers: for benchmarks, checks and tests without data.
#pragma once

#include "data/sets/source.h"

namespace trainyard {

struct SyntheticOptions : SourceOptions {
  static constexpr std::string_view kName = "synthetic";
  std::vector<std::int64_t> shape{3, 32, 32};  // [c, h, w]
  std::int64_t classes = 10;
  std::int64_t size = 1024;
  Split split = Split::train;  // two parts with the same classes and different samples
  bool learnable = false;      // an image of its class under noise; else only noise
};
void declare(config::Fields& fields, SyntheticOptions& options);

/// Whole values 0..255; sample i has class i mod classes. A sample is a pure function of (seed,
/// split, index) and is drawn when it is read, so a set of any size needs no memory. Learnable:
/// each class has tiles of 4 x 4 pixels with random values; a sample is half tiles, half noise.
[[nodiscard]] DatasetPtr open_synthetic(const SyntheticOptions& options, std::uint64_t seed);

}  // namespace trainyard
