// Masks of sequences, made of their lengths.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/sets/dataset.h"

namespace trainyard {

/// The steps of a sample of `set`: its tokens, or its image [features, 1, steps]; 0: it is neither.
[[nodiscard]] std::int64_t sequence_steps(const Dataset& set);

/// Makes of a set's field `length` which steps of a sample are no padding.
class TimeStepMask {
 public:
  /// Throws Error{config} if samples have no such field, Error{data} if one is not in [0, steps].
  explicit TimeStepMask(const Dataset& set);
  [[nodiscard]] std::size_t bytes() const;
  /// Writes i32 [steps], 1 or 0, for sample `index`.
  void read(const Dataset& set, std::int64_t index, std::byte* out) const;

 private:
  std::int64_t steps_;
  std::size_t field_ = 0;
  PaddingSide padding_ = PaddingSide::end;
};

}  // namespace trainyard
