// The functors that accompany the libraries' work on GPUs, on the CPU's launcher.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "compute/copy/weight_copies.h"
#include "compute/elementwise/bias.h"
#include "launcher/launch.h"

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
TensorView view_of(std::vector<T>& values) {
  return {.data = values.data(), .type = DTypeOf<T>::value, .layout = {}};
}

/// Lists of values, one per weight.
template <class T>
using Lists = std::vector<std::vector<T>>;

template <class Functor, bool kPacks, class From, class To>
void copy_all(const std::vector<WeightShape>& shapes, Lists<From>& from, Lists<To>& to) {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  WeightCopies<Functor, kPacks, CpuLauncher> copies(shapes, kLauncher, *device, *queue);
  StepTensors tensors;
  for (auto& values : from) tensors.inputs.push_back(view_of(values));
  for (auto& values : to) tensors.outputs.push_back(view_of(values));
  copies.bind(tensors);
  copies.run();
}

/// Lists that one launch packs; -1 was there before.
template <class T>
Lists<T> all_packed(const std::vector<WeightShape>& shapes, Lists<float>& from) {
  Lists<T> to;
  for (const WeightShape& shape : shapes) {
    to.emplace_back(static_cast<std::size_t>(shape.packed_elements()), T(-1.0f));
  }
  copy_all<PackWeights<T>, true>(shapes, from, to);
  return to;
}

template <class T>
std::vector<T> packed(const WeightShape& shape, const std::vector<float>& from) {
  Lists<float> list{from};
  return all_packed<T>({shape}, list)[0];
}

template <class T>
void check_round_trip(const std::vector<WeightShape>& shapes) {
  Lists<float> weights, back;
  for (const WeightShape& shape : shapes) {
    weights.push_back(counted(shape.plain_elements()));
    back.emplace_back(weights.back().size(), -1.0f);
  }
  Lists<T> middle = all_packed<T>(shapes, weights);
  copy_all<UnpackWeights<T>, false>(shapes, middle, back);
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

TEST_CASE("turned weights are i, h, w, o, their windows back to front") {
  WeightShape shape = kPadded;
  shape.turned = true;
  const std::vector<float> weights = counted(shape.plain_elements());
  const std::vector<float> to = packed<float>(shape, weights);
  for (std::int64_t i = 0; i < 8; ++i) {
    for (std::int64_t place = 0; place < 6; ++place) {
      for (std::int64_t o = 0; o < 4; ++o) {
        const bool inside = o < 3 && i < 2;
        const float expected = inside ? weights[(o * 2 + i) * 6 + 5 - place] : 0.0f;
        CHECK(to[(i * 6 + place) * 4 + o] == expected);
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

TEST_CASE("unpacking is the reverse of packing, of many weights at once") {
  const std::vector<WeightShape> shapes{
      kPadded,
      {.filters = 5, .channels = 7, .padded_filters = 5, .padded_channels = 7},  // in its own order
      {.filters = 6,
       .channels = 3,
       .height = 3,
       .width = 3,
       .padded_filters = 6,
       .padded_channels = 3},  // channels of a group
      {.filters = 2, .channels = 12, .padded_filters = 8, .padded_channels = 16},  // padded vectors
      {.filters = 4,
       .channels = 16,
       .height = 1,
       .width = 2,
       .padded_filters = 4,
       .padded_channels = 16},
      {.channels = 10, .padded_channels = 10}};
  // The values are whole numbers that 8 bits of mantissa hold.
  check_round_trip<float>(shapes);
  check_round_trip<BFloat16>(shapes);
  check_round_trip<Float16>(shapes);
}

TEST_CASE("packing writes every element of a weight once and nothing else") {
  for (std::int64_t channels = 1; channels <= 17; ++channels) {
    for (const std::int64_t padded : {channels, round_up<std::int64_t>(channels, 8)}) {
      for (const std::int64_t window : {1, 2, 9}) {
        const WeightShape shape{.filters = 3,
                                .channels = channels,
                                .width = window,
                                .padded_filters = 4,
                                .padded_channels = padded};
        const std::vector<BFloat16> to = packed<BFloat16>(shape, counted(shape.plain_elements()));
        const WeightEntry entry = weight_entry(shape, kPack<BFloat16>);
        std::vector<int> written(to.size());
        for (std::int64_t item = 0; item < entry.items(); ++item) {
          const auto span = entry.span_of(item);
          for (int k = 0; k < span.packed; ++k) {
            ++written[static_cast<std::size_t>(span.packed_offset + k)];
          }
        }
        CHECK(std::ranges::count(written, 1) == shape.packed_elements());
        CHECK(std::ranges::count(to, BFloat16(-1.0f)) == 0);
        CHECK(entry.span_of(entry.items()).packed == 0);
      }
    }
  }
}

TEST_CASE("rows of packed weights that are multiples of 16 bytes are copied by vectors") {
  const auto entry = [](std::int64_t filters, std::int64_t channels, std::int64_t window,
                        std::int64_t padded) {
    return weight_entry({.filters = filters,
                         .channels = channels,
                         .width = window,
                         .padded_filters = filters,
                         .padded_channels = padded},
                        8);
  };
  CHECK(entry(4, 16, 9, 16).width == 8);
  CHECK_FALSE(entry(4, 16, 9, 16).vectors);
  CHECK(entry(4, 12, 1, 16).vectors);
  CHECK_FALSE(entry(4, 10, 1, 16).vectors);
  CHECK(entry(4, 10, 1, 10).vectors);  // the same order: one row
  CHECK(entry(4, 3, 9, 3).width == 1);
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

TEST_CASE("a bias is added to every pixel, cut at 0 for a ReLU, and leaves padding unchanged") {
  const Layout layout = channels_last_layout({2, 6, 2, 2}, 8);
  const std::vector<float> bias{1, -2, 3, -4, 5, -6};
  const ChannelRows rows(layout);
  REQUIRE(rows.packs(8));
  const auto run = [&]<int P, bool kRelu>() {
    alignas(16) BFloat16 y[64];
    REQUIRE(span_elements(layout) == 64);
    for (std::size_t i = 0; i < 64; ++i) y[i] = BFloat16(i % 8 < 6 ? 0.5f : -1.0f);
    y[8] = BFloat16(std::numeric_limits<float>::quiet_NaN());
    kLauncher.each(rows.count * ((rows.channels + P - 1) / P),
                   AddBiasRows<BFloat16, P, kRelu>{rows, y, bias.data()});
    CHECK(std::isnan(static_cast<float>(y[8])));
    for (std::size_t i = 0; i < 64; ++i) {
      if (i == 8) continue;
      const float sum = i % 8 < 6 ? bias[i % 8] + 0.5f : -1.0f;
      const bool cut = kRelu && i % 8 < 6 && sum < 0;
      CHECK(static_cast<float>(y[i]) == (cut ? 0 : sum));
    }
  };
  run.operator()<8, false>();
  run.operator()<8, true>();
  run.operator()<1, false>();
  run.operator()<1, true>();
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
    kLauncher.columns(rows.count, 5, BiasGradientRows<float, 1>{rows, dy.data(), gradient.data()},
                      partials.data(), nullptr);
    for (std::size_t c = 0; c < 5; ++c) CHECK(gradient[c] == static_cast<float>(expected[c]));
  }
}

TEST_CASE("a ReLU's backward step sums what it writes for the bias before it") {
  const Shape shape{3, 6, 4, 7};
  for (const Layout& layout : {plain_layout(shape), channels_last_layout(shape, 8)}) {
    const auto count = static_cast<std::size_t>(span_elements(layout));
    std::vector<float> y(count, 0.0f), dy(count, 0.0f), dx(count, -1.0f), expected(count, 0.0f);
    std::vector<float> sums(6, 0.0f), gradient(6);
    for (std::size_t i = 0; i < 3 * 6 * 28; ++i) {
      const std::size_t c = i / 28 % 6;
      const auto at = static_cast<std::size_t>(
          layout.offset(static_cast<std::int64_t>(i / 168), static_cast<std::int64_t>(c),
                        static_cast<std::int64_t>(i % 28 / 7), static_cast<std::int64_t>(i % 7)));
      y[at] = i % 3 == 0 ? 0.0f : 1.0f;
      dy[at] = static_cast<float>(i % 16) - 7.0f;
      expected[at] = i % 3 == 0 ? 0.0f : dy[at];
      sums[c] += expected[at];  // integers: exact in any order
    }
    const ActivationOp<Relu> op({});
    const auto executor = make_relu_bias_on(
        kLauncher,
        {.op = &op, .pass = Pass::backward_data, .inputs = {layout}, .outputs = {layout}});
    std::vector<double> workspace(executor->workspace_bytes() / sizeof(double));
    const auto view = [](std::vector<float>& values, const Layout& of) {
      return TensorView{values.data(), DType::f32, of};
    };
    executor->bind({.outputs = {view(y, layout)},
                    .output_gradients = {view(dy, layout)},
                    .input_gradients = {view(dx, layout)},
                    .parameter_gradients = {view(gradient, plain_layout({6}))},
                    .workspace = workspace.data()});
    executor->run();
    CHECK(dx == expected);
    CHECK(gradient == sums);
  }
}
