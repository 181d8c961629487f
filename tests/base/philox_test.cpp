#include "base/philox.h"

#include <doctest/doctest.h>

#include <array>

namespace trainyard {
namespace {

using Words = std::array<std::uint32_t, 4>;

Words words(const Random4& draw) {
  return {draw.word[0], draw.word[1], draw.word[2], draw.word[3]};
}

// The known answers of Random123 1.14 (kat_vectors, "philox4x32 10").
TEST_CASE("Philox gives the known answers of Random123") {
  CHECK(words(philox(0, 0, 0, 0, 0, 0)) ==
        Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  const std::uint32_t ones = 0xffffffffu;
  CHECK(words(philox(ones, ones, ones, ones, ones, ones)) ==
        Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  CHECK(words(philox(0xa4093822u, 0x299f31d0u, 0x243f6a88u, 0x85a308d3u, 0x13198a2eu,
                     0x03707344u)) == Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("Philox in lanes of 64 bits gives the same words") {
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t mixed = i * 0x9E3779B9u;
    CHECK(words(philox<std::uint64_t>(mixed, ~mixed, i, mixed << 7, ~i, mixed)) ==
          words(philox(mixed, ~mixed, i, mixed << 7, ~i, mixed)));
  }
}

TEST_CASE("every argument of random4 changes the draw") {
  const Words base = words(random4(1, RandomStream::layer, 2, 3, 4));
  CHECK(words(random4(2, RandomStream::layer, 2, 3, 4)) != base);
  CHECK(words(random4(1ull << 32 | 1, RandomStream::layer, 2, 3, 4)) != base);
  CHECK(words(random4(1, RandomStream::order, 2, 3, 4)) != base);
  CHECK(words(random4(1, RandomStream::layer, 3, 3, 4)) != base);
  CHECK(words(random4(1, RandomStream::layer, 2, 2, 4)) != base);
  CHECK(words(random4(1, RandomStream::layer, 2, 3, 5)) != base);
  CHECK(words(random4(1, RandomStream::layer, 2, 3, 1ull << 32 | 4)) != base);
  CHECK(words(random4(1, RandomStream::layer, 2, 3, 4)) == base);
}

TEST_CASE("uniform01 stays below one") {
  CHECK(uniform01(0) == 0.0f);
  CHECK(uniform01(0xffffffffu) == 1.0f - 1.0f / 16777216.0f);
}

}  // namespace
}  // namespace trainyard
