#include "data/text/keras_shuffle.h"

#include <bit>
#include <numeric>
#include <utility>

namespace trainyard {

std::uint32_t NumpyRandom::at_most(std::uint32_t largest) {
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << std::bit_width(largest)) - 1);
  for (;;) {
    const auto word = static_cast<std::uint32_t>(words_()) & mask;
    if (word <= largest) return word;
  }
}

std::vector<std::int64_t> NumpyRandom::shuffled(std::int64_t size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = size - 1; i > 0; --i) {
    const std::uint32_t other = at_most(static_cast<std::uint32_t>(i));
    std::swap(order[static_cast<std::size_t>(i)], order[other]);
  }
  return order;
}

}  // namespace trainyard
