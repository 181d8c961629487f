// The canonical sum over ranks, written as it is defined.
#pragma once

#include <bit>
#include <span>

namespace trainyard::testing {

/// The sum of one value per rank.
template <class T>
T tree_sum_of(std::span<const T> values) {
  if (values.size() == 1) return values[0];
  const std::size_t half = std::bit_ceil(values.size()) / 2;
  return tree_sum_of(values.first(half)) + tree_sum_of(values.subspan(half));
}

}  // namespace trainyard::testing
