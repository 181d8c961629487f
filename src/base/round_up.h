// Rounding to multiples.
#pragma once

namespace trainyard {

/// The least multiple of `multiple` that is at least `value`. Both are positive, or `value` is 0.
template <class Integer>
[[nodiscard]] constexpr Integer round_up(Integer value, Integer multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace trainyard
