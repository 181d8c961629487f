#include "base/offset_allocator.h"

#include <doctest/doctest.h>

#include <array>

namespace trainyard {
namespace {

TEST_CASE("numbers are rounded up to a multiple") {
  CHECK(round_up(0, 8) == 0);
  CHECK(round_up(1, 8) == 8);
  CHECK(round_up(8, 8) == 8);
  CHECK(round_up(9, 3) == 9);
  CHECK(aligned_bytes(257) == 512);
}

TEST_CASE("slots follow each other, each at a multiple of the alignment") {
  OffsetAllocator vectors(64), gpu;
  CHECK(vectors.take(1) == 0);
  CHECK(vectors.take(65) == 64);
  CHECK(vectors.take(0) == 192);
  CHECK(vectors.take(64) == 192);
  CHECK(vectors.used() == 256);
  CHECK(gpu.take(1) == 0);
  CHECK(gpu.take(256) == 256);
  CHECK(gpu.used() == 512);
}

TEST_CASE("an address is so many bytes after the block's first") {
  std::array<std::byte, 16> block{};
  CHECK(address_at(block.data(), 5) == &block[5]);
}

}  // namespace
}  // namespace trainyard
