// Elementwise ops and sums as a GPU's threads compute them, on the CPU: packs of neighbours, and a
// term for each thread.
#include "compute/elementwise/channel_sums.h"
#include "compute/elementwise/map.h"
#include "compute/walk.h"
#include "functor_harness.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kMappedShape{2, 11, 3, 5};

TEST_CASE("packs of neighbours give elementwise ops in any layout") {
  const std::vector<double> list = draws(330, 2), other = draws(330, 3);
  for (const StoredLayout& from : stored_layouts(kMappedShape)) {
    for (const StoredLayout& to : stored_layouts(kMappedShape)) {
      CAPTURE(from.name);
      CAPTURE(to.name);
      Tensor<float> a(from, list), b(to, other), copy(to), sum(to);
      const Walk one = plan_walk(std::array{to.layout, from.layout});
      const Walk two = plan_walk(std::array{from.layout, to.layout, to.layout});
      map<float, float>(ThreadLauncher(), one, Copy{}, a.view(), copy.view());
      map<float>(ThreadLauncher(), two, Sum{}, a.view(), b.view(), sum.view());
      CHECK(copy.elements() == a.elements());
      const std::vector<float> first = a.elements(), second = b.elements(), sums = sum.elements();
      for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == first[i] + second[i]);
      CHECK(copy.is_clean());
      CHECK(sum.is_clean());
    }
  }
}

TEST_CASE("places know their block, their neighbours and other pixels of any layout") {
  for (const StoredLayout& one : stored_layouts(kMappedShape)) {
    const Layout& layout = one.layout;
    const Places at(layout);
    const bool last = layout.block == 1 && layout.stride[1] == 1;
    CHECK(at.lanes() == (last ? layout.padded_channels : layout.block));
    CHECK(at.together(5, 6) == (last ? 6 : layout.block == 1 ? 1 : layout.block == 8 ? 3 : 6));
    for (std::int64_t c = 0; c < 11; ++c) {
      const ElementIndex place = at.place(1, c, 7);
      CHECK(place.offset == layout.offset(1, c, 1, 2));
      CHECK(place.block == (layout.block == 1 ? 0 : layout.block));
      CHECK(place.lane == c % layout.block);
      for (const StoredLayout& other : stored_layouts(kMappedShape)) {
        CHECK(Places(other.layout).offset(place, 13) == other.layout.offset(1, c, 2, 3));
      }
    }
  }
  const Strip strip{{1, 4, 9, 30}, 1, 2, 3, true}, row{{1, 4, 9, 30}, 1, 2, 3, false};
  CHECK(strip.place(2).c == 6);
  CHECK(row.place(2).pixel == 11);
}

TEST_CASE("a run is filled from its begin to its end alone") {
  for (std::int64_t begin = 0; begin < 20; ++begin) {
    for (std::int64_t end = begin; end < 40; ++end) {
      std::vector<float> filled(64), expected(64);
      for (std::int64_t k = begin; k < end; ++k) expected[static_cast<std::size_t>(k)] = 1.0f + k;
      fill_run(filled.data(), begin, end, [](std::int64_t k) { return 1.0f + k; });
      CHECK(filled == expected);
    }
  }
}

TEST_CASE("a divisor divides exactly, multiples of it too") {
  for (std::uint32_t by = 1; by < 200; ++by) {
    for (const std::uint32_t number :
         {by - 1, by, by + 1, 3 * by, 7 * by, 4'294'967'295U / by * by}) {
      CHECK(Divisor(by)(number) == number / by);
    }
  }
}

/// Whole numbers that say where an element is, so that sums of them are exact.
struct PlaceNumbers {
  TY_HD PairSum operator()(const ElementIndex& at) const {
    return {static_cast<double>(at.n * 1000 + at.c * 50 + at.pixel),
            static_cast<double>(at.offset)};
  }
};

PairSum place_sum(const Layout& layout, std::int64_t n, std::int64_t c) {
  PairSum sum = {};
  for (std::int64_t pixel = 0; pixel < 15; ++pixel) {
    sum += PairSum{static_cast<double>(n * 1000 + c * 50 + pixel),
                   static_cast<double>(layout.offset(n, c, pixel / 5, pixel % 5))};
  }
  return sum;
}

TEST_CASE("sums of channels and of maps have a term for each pixel, in strips or one by one") {
  for (const StoredLayout& stored : stored_layouts(kMappedShape)) {
    CAPTURE(stored.name);
    const Places at(stored.layout);
    std::vector<PairSum> maps(22 + 64 * static_cast<std::size_t>(2 * at.padded));
    sum_maps(CpuLauncher(2), stored.layout, PlaceNumbers{}, maps.data(), nullptr);
    const ChannelSums<double, PlaceNumbers> channels{at, {}, nullptr, nullptr};
    const MapSumColumns<PlaceNumbers> columns{at, {}, nullptr};
    for (std::int64_t c = 0; c < at.padded; ++c) {
      PairSum terms = {}, strip = {}, expected = {};
      for (std::int64_t n = 0; n < 2; ++n) {
        PairSum map = {};
        for (std::int64_t p = 0; p < 15; ++p) map += columns(p, n * at.padded + c);
        const PairSum wanted = c < 11 ? place_sum(stored.layout, n, c) : PairSum{};
        CHECK(map.first == wanted.first);
        CHECK(map.second == wanted.second);
        if (c >= 11) continue;
        CHECK(maps[static_cast<std::size_t>(n * 11 + c)].first == wanted.first);
        CHECK(maps[static_cast<std::size_t>(n * 11 + c)].second == wanted.second);
        expected += wanted;
      }
      if (c >= 11) continue;
      for (std::int64_t row = 0; row < 30; ++row) terms += channels(row, c);
      channels.add(0, 7, c, 1, &strip);
      channels.add(7, 30, c, 1, &strip);
      for (const PairSum& sum : {terms, strip}) {
        CHECK(sum.first == expected.first);
        CHECK(sum.second == expected.second);
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
