// The order in which numpy shuffles, and so Keras's loaders.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace trainyard {

/// numpy.random.RandomState(seed) as far as shuffle() needs it: its MT19937 is std::mt19937, seeded
/// alike for seeds of 32 bits.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : words_(seed) {}
  /// numpy.arange(size) after shuffle(): for i from size - 1 to 1, i is exchanged with one of 0..i,
  /// drawn by masking a word and refusing what is larger (numpy's random_interval). `size` is at
  /// most 2^32.
  [[nodiscard]] std::vector<std::int64_t> shuffled(std::int64_t size);

 private:
  [[nodiscard]] std::uint32_t at_most(std::uint32_t largest);

  std::mt19937 words_;
};

}  // namespace trainyard
