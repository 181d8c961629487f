// Which sums share a piece, and where a sum is cut.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "ranks/comm/shared_ranks.h"

using namespace trainyard;

namespace {

constexpr std::size_t kBytes = 1024;

/// The chunks of each piece: "100 f32 of 300 at 0".
std::vector<std::vector<std::string>> pieces_of(const std::vector<SumPart>& parts) {
  SumPieces pieces(parts, kBytes);
  std::vector<std::vector<std::string>> all;
  for (auto chunks = pieces.next(); !chunks.empty(); chunks = pieces.next()) {
    all.emplace_back();
    for (const SumChunk& chunk : chunks) {
      all.back().push_back(std::to_string(chunk.count) + " " + std::string(name_of(chunk.type)) +
                           " of " + std::to_string(chunk.whole) + " at " +
                           std::to_string(chunk.offset));
    }
  }
  return all;
}

using Pieces = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("sums that fit together are one piece, each at the start of a cache line") {
  CHECK(
      pieces_of({{nullptr, 100, DType::f32}, {nullptr, 3, DType::f64}, {nullptr, 1, DType::f64}}) ==
      Pieces{{"100 f32 of 100 at 0", "3 f64 of 3 at 448", "1 f64 of 1 at 512"}});
  CHECK(pieces_of({{nullptr, 256, DType::f32}}) == Pieces{{"256 f32 of 256 at 0"}});
}

TEST_CASE("a sum that does not fit continues in the next piece, which it shares") {
  CHECK(pieces_of({{nullptr, 600, DType::f32}, {nullptr, 3, DType::f64}}) ==
        Pieces{{"256 f32 of 600 at 0"},
               {"256 f32 of 600 at 0"},
               {"88 f32 of 600 at 0", "3 f64 of 3 at 384"}});
  CHECK(pieces_of({{nullptr, 1, DType::bf16}, {nullptr, 200, DType::f64}}) ==
        Pieces{{"1 bf16 of 1 at 0", "120 f64 of 200 at 64"}, {"80 f64 of 200 at 0"}});
  CHECK(pieces_of({{nullptr, 250, DType::f32}, {nullptr, 1, DType::f32}}) ==
        Pieces{{"250 f32 of 250 at 0"}, {"1 f32 of 1 at 0"}});
}

TEST_CASE("sums of no elements are in no piece") {
  CHECK(pieces_of({}).empty());
  CHECK(pieces_of({{nullptr, 0, DType::f32}, {nullptr, 0, DType::i32}}).empty());
  CHECK(pieces_of({{nullptr, 0, DType::f32},
                   {nullptr, 2, DType::i32},
                   {nullptr, 0, DType::f64},
                   {nullptr, 2, DType::f16},
                   {nullptr, 0, DType::f64}}) == Pieces{{"2 i32 of 2 at 0", "2 f16 of 2 at 64"}});
}

TEST_CASE("a piece has a limited number of sums, however small") {
  const Pieces pieces = pieces_of(std::vector<SumPart>(19, {nullptr, 1, DType::f32}));
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].size() == SumPieces::kMostChunks);
  CHECK(pieces[1].size() == SumPieces::kMostChunks);
  CHECK(pieces[2].size() == 3);
}

TEST_CASE("the chunks of a sum are its elements in their order") {
  std::vector<double> values(300);
  const std::vector<SumPart> parts{{values.data(), 300, DType::f64}};
  SumPieces pieces(parts, kBytes);
  const double* expected = values.data();
  for (auto chunks = pieces.next(); !chunks.empty(); chunks = pieces.next()) {
    REQUIRE(chunks.size() == 1);
    CHECK(reinterpret_cast<const double*>(chunks[0].data) == expected);
    expected += chunks[0].count;
  }
  CHECK(expected == values.data() + 300);
}

TEST_CASE("bytes are not summed, and a piece is of whole cache lines") {
  const std::vector<SumPart> bytes{{nullptr, 1, DType::u8}};
  const std::vector<SumPart> negative{{nullptr, -1, DType::f32}};
  CHECK_THROWS_AS(SumPieces(bytes, kBytes), Error);
  CHECK_THROWS_AS(SumPieces(negative, kBytes), Error);
  CHECK_THROWS_AS(SumPieces({}, 100), Error);
  CHECK_THROWS_AS(SumPieces({}, 0), Error);
}
