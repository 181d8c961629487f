// The functors that accompany the libraries' work on GPUs, on the CPU's launcher.
#include "exec/functor/weights.h"

#include <doctest/doctest.h>

#include <type_traits>
#include <vector>

#include "exec/functor/bias.h"
#include "kernels/launch.h"

using namespace trainyard;

namespace {

const CpuLauncher kLauncher(2);

std::vector<float> counted(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i + 1));
  return values;
}

constexpr WeightShape kPadded{.filters = 3,
                              .channels = 2,
                              .height = 2,
                              .width = 3,
                              .padded_filters = 4,
                              .padded_channels = 8};

template <class T>
std::vector<T> packed(const WeightShape& shape, const std::vector<float>& from) {
  std::vector<T> to(static_cast<std::size_t>(shape.packed_elements()), T(-1.0f));
  kLauncher.each(shape.packed_elements(), PackWeights<T>{shape, from.data(), to.data()});
  return to;
}

template <class T>
void check_round_trip(const WeightShape& shape) {
  const std::vector<float> weights = counted(shape.plain_elements());
  const std::vector<T> middle = packed<T>(shape, weights);
  std::vector<float> back(weights.size(), -1);
  kLauncher.each(shape.plain_elements(), UnpackWeights<T>{shape, middle.data(), back.data()});
  CHECK(back == weights);
}

}  // namespace

TEST_CASE("packed weights are o, h, w, i with zeros after the filters and channels") {
  const std::vector<float> weights = counted(kPadded.plain_elements());
  const std::vector<float> to = packed<float>(kPadded, weights);
  for (std::int64_t o = 0; o < 4; ++o) {
    for (std::int64_t h = 0; h < 2; ++h) {
      for (std::int64_t w = 0; w < 3; ++w) {
        for (std::int64_t i = 0; i < 8; ++i) {
          const bool inside = o < 3 && i < 2;
          const float expected = inside ? weights[((o * 2 + i) * 2 + h) * 3 + w] : 0.0f;
          CHECK(to[((o * 2 + h) * 3 + w) * 8 + i] == expected);
        }
      }
    }
  }
}

TEST_CASE("weights are rounded once to the storage type") {
  const std::vector<float> weights{1.00390625f, -3.0f};  // 1 + 2^-8, half way between two bf16
  const WeightShape shape{.filters = 2, .padded_filters = 2};
  const auto to = packed<BFloat16>(shape, weights);
  CHECK(static_cast<float>(to[0]) == 1.0f);
  CHECK(static_cast<float>(to[1]) == -3.0f);
}

TEST_CASE("unpacking is the reverse of packing") {
  check_round_trip<float>(kPadded);
  check_round_trip<BFloat16>(kPadded);
  check_round_trip<Float16>(kPadded);
  check_round_trip<float>({.filters = 5, .channels = 7, .padded_filters = 5, .padded_channels = 7});
}

TEST_CASE("the two orders are the same only for unpadded 1x1 windows and for single channels") {
  const auto shape = [](std::int64_t channels, std::int64_t width, std::int64_t padded) {
    return WeightShape{.filters = 4,
                       .channels = channels,
                       .width = width,
                       .padded_filters = 4,
                       .padded_channels = padded};
  };
  CHECK(shape(8, 1, 8).same_order());
  CHECK(shape(1, 3, 1).same_order());
  CHECK_FALSE(shape(8, 3, 8).same_order());
  CHECK_FALSE(shape(6, 1, 8).same_order());
  for (const auto& same : {shape(8, 1, 8), shape(1, 3, 1)}) {
    const std::vector<float> weights = counted(same.plain_elements());
    CHECK(packed<float>(same, weights) == weights);
  }
}

TEST_CASE("a bias is added to every pixel and leaves padding unchanged, in packs and one by one") {
  const Layout layout = channels_last_layout({2, 6, 2, 2}, 8);
  const std::vector<float> bias = counted(6);
  const ChannelRows rows(layout);
  REQUIRE(rows.packs(8));
  const auto run = [&]<int P>(std::integral_constant<int, P>) {
    alignas(16) BFloat16 y[64];
    REQUIRE(span_elements(layout) == 64);
    for (std::size_t i = 0; i < 64; ++i) y[i] = BFloat16(i % 8 < 6 ? 0.5f : 0.0f);
    kLauncher.each(rows.count * ((rows.channels + P - 1) / P),
                   AddBiasRows<BFloat16, P>{rows, y, bias.data()});
    for (std::size_t i = 0; i < 64; ++i) {
      const float expected = i % 8 < 6 ? bias[i % 8] + 0.5f : 0.0f;
      CHECK(static_cast<float>(y[i]) == expected);
    }
  };
  run(std::integral_constant<int, 8>{});
  run(std::integral_constant<int, 1>{});
}

TEST_CASE("a bias's gradient is the sum over all pixels of its channel, in any layout") {
  const Shape shape{3, 5, 4, 7};
  for (const Layout& layout : {plain_layout(shape), channels_last_layout(shape, 8)}) {
    std::vector<float> dy(static_cast<std::size_t>(span_elements(layout)), 0.0f);
    std::vector<double> expected(5, 0.0);
    float value = 0.25f;
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t c = 0; c < 5; ++c) {
        for (std::int64_t p = 0; p < 28; ++p) {
          dy[static_cast<std::size_t>(layout.offset(n, c, p / 7, p % 7))] = value;
          expected[static_cast<std::size_t>(c)] += value;
          value += 0.25f;
        }
      }
    }
    const ChannelRows rows(layout);
    std::vector<float> gradient(5);
    std::vector<double> partials(static_cast<std::size_t>(column_partials(rows.count, 5)));
    kLauncher.columns(rows.count, 5, BiasGradientRows<float>{rows, dy.data(), gradient.data()},
                      partials.data());
    for (std::size_t c = 0; c < 5; ++c) CHECK(gradient[c] == static_cast<float>(expected[c]));
  }
}
