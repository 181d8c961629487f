// A convolution of whole numbers, for the inner loops and their test.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tensor/dtype.h"

namespace trainyard::probe {

/// A map with its border, weights, and the convolution by definition: 3x3, stride 1. In their
/// order in TileMemory.
struct WholeConvolution {
  explicit WholeConvolution(int channels_)
      : channels(channels_), side(512 / channels_), wide(side + 2) {
    std::mt19937 random(5);
    const auto number = [&](bool zero) {
      const auto value = static_cast<float>(static_cast<int>(random() % 7) - 3);
      return BFloat16(zero ? 0.0f : value);
    };
    for (int i = 0; i < wide * wide * channels; ++i) {
      const int y = i / channels / wide, x = i / channels % wide;
      map.push_back(number(y == 0 || x == 0 || y == side + 1 || x == side + 1));
    }
    for (int i = 0; i < 9 * channels * channels; ++i) weights.push_back(number(false));
  }

  [[nodiscard]] float at(int pixel, int filter) const {
    float sum = 0;
    for (int tap = 0; tap < 9; ++tap) {
      const int from = (pixel / side + tap / 3) * wide + pixel % side + tap % 3;
      for (int c = 0; c < channels; ++c) {
        sum += static_cast<float>(map[from * channels + c]) *
               static_cast<float>(weights[(tap * channels + filter) * channels + c]);
      }
    }
    return sum;
  }

  /// The first difference between a kernel's sums (TileMemory::sums) and the convolution; "" if
  /// there is none.
  [[nodiscard]] std::string difference(const std::vector<float>& sums) const {
    const int count = side * side * channels;
    for (int i = 0; i < count; ++i) {
      float sum = sums[i];
      if (channels == 64) sum += sums[count + i];
      const float expected = at(i / channels, i % channels);
      if (sum == expected) continue;
      return "pixel " + std::to_string(i / channels) + ", channel " + std::to_string(i % channels) +
             ": " + std::to_string(sum) + ", not " + std::to_string(expected);
    }
    return "";
  }
  [[nodiscard]] std::size_t sums() const {
    return static_cast<std::size_t>(side) * side * channels * (channels == 64 ? 2 : 1);
  }

  int channels, side, wide;
  std::vector<BFloat16> map, weights;
};

}  // namespace trainyard::probe
