// The named parts of a sample besides its image.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace trainyard {

/// Where the padding of a sequence is.
enum class PaddingSide { end, front };

/// A part that every sample of a data set has: its label, a target, a weight.
struct SampleField {
  std::string name = "label";
  Shape shape = {};                               // shape of one sample; of rank 0: a single number
  DType type = DType::i32;                        // i32 or f32
  PaddingSide padding = PaddingSide::end;         // side of a field of lengths
  std::vector<double> mean = {}, deviation = {};  // each number's in a standardised field
  std::vector<std::string> words = {};            // words that its numbers, 0 or 1, stand for

  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(shape.elements()) * size_of(type);
  }
  /// Shape of a batch: [n] or [n, ...shape]. The shape has at most three extents.
  [[nodiscard]] Shape batched(std::int64_t n) const {
    if (shape.rank() == 0) return {n};
    if (shape.rank() == 1) return {n, shape[0]};
    return shape.rank() == 2 ? Shape{n, shape[0], shape[1]}
                             : Shape{n, shape[0], shape[1], shape[2]};
  }
  /// Turns rows of standardised numbers, [n, numbers of the field], into the units they had before;
  /// others stay as they are.
  void restore_units(std::span<float> rows) const {
    for (std::size_t i = 0; i < rows.size() && !mean.empty(); ++i) {
      const std::size_t c = i % mean.size();
      rows[i] = static_cast<float>(static_cast<double>(rows[i]) * deviation[c] + mean[c]);
    }
  }
  bool operator==(const SampleField&) const = default;
};

/// The name of the field that every labelled set has, i32: a single number, or one for each
/// position of a sequence; and that of the weights that a feeder makes (ClassWeightPolicy), f32, a
/// single number.
inline constexpr const char* kLabelField = "label";
inline constexpr const char* kWeightField = "weights of targets";
/// What a feeder that mixes samples makes, f32 [2]: the other class in a target, or -1, and its
/// share (MixedTarget); the label is then the class of the larger part.
inline constexpr const char* kMixField = "mixed targets";
/// The fields of sequences: their tokens, i32 [t], and how many of their steps are not padding,
/// i32; and the mask that a feeder makes of that, i32 [t]: 1, or 0 for padding.
inline constexpr const char* kTokensField = "tokens";
inline constexpr const char* kLengthField = "length";
inline constexpr const char* kMaskField = "mask of steps";

}  // namespace trainyard
