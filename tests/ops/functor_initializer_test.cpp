#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ops/initializers.h"

namespace trainyard {
namespace {

using DrawKind = Initializer::Kind;

ParameterSpec parameter(DrawKind kind, double value = 0, Shape shape = {100, 50, 3, 3}) {
  return {.name = "weight",
          .shape = shape,
          .initializer = {.kind = kind, .value = value},
          .fan_in = 450,
          .fan_out = 900};
}

std::vector<float> drawn(const ParameterSpec& spec, std::uint64_t seed = 1, std::uint64_t key = 2) {
  std::vector<float> out(static_cast<std::size_t>(spec.shape.elements()), std::nanf(""));
  initialize(spec, seed, key, out);
  return out;
}

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0, largest = 0;
};

Moments moments(const std::vector<float>& list) {
  Moments out;
  for (const float x : list) out.mean += x / static_cast<double>(list.size());
  double fourth = 0;
  for (const float x : list) {
    const double square = (x - out.mean) * (x - out.mean);
    out.deviation += square / static_cast<double>(list.size());
    fourth += square * square / static_cast<double>(list.size());
    out.largest = std::max(out.largest, std::abs(static_cast<double>(x)));
  }
  out.kurtosis = fourth / (out.deviation * out.deviation);
  out.deviation = std::sqrt(out.deviation);
  return out;
}

struct Expected {
  DrawKind kind;
  double value;      // the attribute
  double deviation;  // deviation of the distribution
  double kurtosis;
  double bound;  // largest magnitude
};

// A standard normal truncated at 2 has variance 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.773741 and fourth
// moment 3 * 0.773741 - 8 * 2 phi(2) / (2 Phi(2) - 1) = 1.416150, so deviation 0.879626 and
// kurtosis 2.36546.
constexpr double kCutDeviation = 0.879626, kCutKurtosis = 2.36546;

std::vector<Expected> expectations() {
  const auto uniform = [](DrawKind kind, double bound, double value = 0) {
    return Expected{kind, value, bound / std::sqrt(3.0), 1.8, bound};
  };
  const auto cut = [](DrawKind kind, double deviation, double value = 0) {
    return Expected{kind, value, deviation * kCutDeviation, kCutKurtosis, 2 * deviation};
  };
  const auto normal = [](DrawKind kind, double deviation, double value = 0) {
    return Expected{kind, value, deviation, 3, 7 * deviation};
  };
  const double in = 450, both = 1350;
  return {uniform(DrawKind::uniform, 0.05, 0.05),
          normal(DrawKind::normal, 0.02, 0.02),
          cut(DrawKind::truncated_normal, 0.02, 0.02),
          uniform(DrawKind::glorot_uniform, std::sqrt(6 / both)),
          cut(DrawKind::glorot_normal, std::sqrt(2 / both)),
          uniform(DrawKind::he_uniform, std::sqrt(6 / in)),
          cut(DrawKind::he_normal, std::sqrt(2 / in)),
          uniform(DrawKind::lecun_uniform, std::sqrt(3 / in)),
          cut(DrawKind::lecun_normal, std::sqrt(1 / in)),
          normal(DrawKind::msra, std::sqrt(2 / in)),
          uniform(DrawKind::xavier, std::sqrt(3 / in)),
          uniform(DrawKind::torch_default, std::sqrt(1 / in))};
}

TEST_CASE("random initializers have their distribution's mean, deviation, kurtosis and bound") {
  const double root = std::sqrt(45000.0);  // root of the number of draws
  for (const Expected& expected : expectations()) {
    CAPTURE(text_of({.kind = expected.kind, .value = expected.value}));
    const Moments found = moments(drawn(parameter(expected.kind, expected.value)));
    // 5 deviations of each estimate: s / sqrt(N) for the mean, s sqrt((k - 1) / 4) / sqrt(N) for
    // the deviation, and for the kurtosis below the normal one's sqrt(24 / N).
    CHECK(std::abs(found.mean) <= 5 * expected.deviation / root);
    CHECK(std::abs(found.deviation - expected.deviation) <=
          5 * expected.deviation * std::sqrt((expected.kurtosis - 1) / 4) / root);
    CHECK(std::abs(found.kurtosis - expected.kurtosis) <= 5 * std::sqrt(24.0) / root);
    CHECK(found.largest <= expected.bound * (1 + 0x1p-24));
    // 45,000 draws come near the bound of a distribution that has one.
    if (expected.kurtosis < 3) CHECK(found.largest >= 0.99 * expected.bound);
  }
}

TEST_CASE("constant initializers give their value") {
  CHECK(drawn(parameter(DrawKind::zeros, 0, {3})) == std::vector<float>{0, 0, 0});
  CHECK(drawn(parameter(DrawKind::ones, 0, {2})) == std::vector<float>{1, 1});
  CHECK(drawn(parameter(DrawKind::constant, 0.25, {2})) == std::vector<float>{0.25f, 0.25f});
}

TEST_CASE("draws depend only on seed, parameter and element") {
  const ParameterSpec spec = parameter(DrawKind::he_normal);
  const std::vector<float> first = drawn(spec);
  CHECK(drawn(spec) == first);
  CHECK(drawn(spec, 2) != first);
  CHECK(drawn(spec, 1, 3) != first);
  CHECK(drawn(spec, 1, 2 + (1ull << 32)) != first);
  // More filters leave the first ones as they were.
  const std::vector<float> more = drawn(parameter(DrawKind::he_normal, 0, {120, 50, 3, 3}));
  CHECK(std::vector<float>(more.begin(), more.begin() + 45000) == first);
}

TEST_CASE("draws of a known seed and parameter match the formulas") {
  // From a second implementation of Philox and of Box and Muller, in Python, for seed 1 and key 2.
  const auto check = [](const std::vector<float>& found, std::size_t element, double expected) {
    CAPTURE(element);
    CHECK(std::abs(found[element] - expected) <= 0x1p-23);  // values below 2, rounded to float
  };
  const std::vector<float> uniform = drawn(parameter(DrawKind::uniform, 1, {2289}));
  check(uniform, 0, -0.7976596520747989);
  check(uniform, 1, 0.34289288776926696);
  check(uniform, 2, 0.7358448172453791);
  // Near 0 a float resolves half a step of the words, 2^-32.
  CHECK(std::abs(uniform[2288] + 4.951399751007557e-05) <= 5e-5 * 0x1p-24);
  // The first, second, third and fourth candidate that is not cut, and one of the second draw.
  const std::vector<float> cut = drawn(parameter(DrawKind::truncated_normal, 1, {283839}));
  check(cut, 0, -0.7456397308670482);
  check(cut, 32, 1.224037925764925);
  check(cut, 18, -0.44067248440600965);
  check(cut, 2623, -1.6015249121511823);
  check(cut, 283838, -1.7059048265389318);
  // Likewise for Gram-Schmidt, on the rows of the first six normal draws.
  const std::vector<float> rows = drawn(parameter(DrawKind::orthogonal, 0, {2, 3}));
  const double expected[] = {-0.7494874925090875, 0.415998818394712,  -0.5149888170306653,
                             0.0277793686174667,  0.7969841721593365, 0.6033610328872028};
  for (std::size_t i = 0; i < 6; ++i) check(rows, i, expected[i]);
}

/// Largest deviation of the products of rows (or columns) from the identity matrix.
double distance_from_unit(const std::vector<float>& list, std::size_t rows, std::size_t columns,
                          bool by_rows) {
  const std::size_t count = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const auto at = [&](std::size_t i, std::size_t k) {
    return static_cast<double>(by_rows ? list[i * columns + k] : list[k * columns + i]);
  };
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < length; ++k) dot += at(i, k) * at(j, k);
      most = std::max(most, std::abs(dot - (i == j ? 1 : 0)));
    }
  }
  return most;
}

TEST_CASE("orthogonal weights have orthonormal rows, or columns if those are fewer") {
  // Rounding to float moves each element by 2^-25 of it, so a product of unit vectors by 2^-24.
  const ParameterSpec wide = parameter(DrawKind::orthogonal, 0, {20, 7, 3, 3});
  CHECK(distance_from_unit(drawn(wide), 20, 63, true) <= 0x1p-23);
  const ParameterSpec tall = parameter(DrawKind::orthogonal, 0, {40, 9});
  CHECK(distance_from_unit(drawn(tall), 40, 9, false) <= 0x1p-23);
  const ParameterSpec square = parameter(DrawKind::orthogonal, 0, {30, 30});
  CHECK(distance_from_unit(drawn(square), 30, 30, true) <= 0x1p-23);
  CHECK(drawn(square, 2) != drawn(square));
}

TEST_CASE("dirac kernels pass each channel through their centre tap") {
  const std::vector<float> kernel = drawn(parameter(DrawKind::dirac, 0, {3, 2, 3, 3}));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const bool centre = i == 0 * 18 + 0 * 9 + 4 || i == 1 * 18 + 1 * 9 + 4;
    CHECK(kernel[i] == (centre ? 1.0f : 0.0f));
  }
}

TEST_CASE("partly dirac kernels are drawn as torch_default beyond the channels") {
  const Shape shape{4, 2, 3, 3};
  const std::vector<float> all = drawn(parameter(DrawKind::torch_default, 0, shape));
  const std::vector<float> kernel = drawn(parameter(DrawKind::dirac_partial, 0, shape));
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const bool centre = i == 0 * 18 + 0 * 9 + 4 || i == 1 * 18 + 1 * 9 + 4;
    CHECK(kernel[i] == (i >= 2 * 18 ? all[i] : centre ? 1.0f : 0.0f));
  }
}

/// Reads `init:` from YAML text with a default.
std::string read(const config::Node& node, config::Diagnostics& diagnostics) {
  config::Fields fields(node, nullptr, "conv", config::Profile::keras2, diagnostics);
  Initializer initializer{.kind = DrawKind::glorot_uniform};
  declare_initializer(fields, "init", initializer, "initializer of the kernel");
  fields.finish();
  return text_of(initializer);
}

config::Node scalar(const std::string& text) {
  return config::scalar_node(text, false, {"net.yaml", 3, 9});
}

config::Node map_of(const std::string& key, config::Node value) {
  config::Node map;
  map.kind = config::Node::Kind::map;
  map.where = {"net.yaml", 3, 3};
  map.entries.push_back({key, {"net.yaml", 3, 3}, std::move(value)});
  return map;
}

TEST_CASE("an initializer is read from a word or from a word with its number") {
  config::Diagnostics diagnostics;
  CHECK(read(map_of("init", scalar("he_normal")), diagnostics) == "he_normal");
  CHECK(read(map_of("init", map_of("normal", scalar("0.01"))), diagnostics) == "{normal: 0.01}");
  CHECK(read(map_of("init", map_of("constant", scalar("1"))), diagnostics) == "{constant: 1}");
  CHECK(read(map_of("init", scalar("dirac")), diagnostics) == "dirac");
  CHECK(read(map_of("init", map_of("dirac", scalar("partial"))), diagnostics) ==
        "{dirac: partial}");
  CHECK(read(config::Node{}, diagnostics) == "glorot_uniform");
  CHECK(diagnostics.empty());
}

TEST_CASE("an unknown initializer or one without its number is an error") {
  config::Diagnostics unknown, bare, negative;
  static_cast<void>(read(map_of("init", scalar("he_norml")), unknown));
  CHECK(unknown.size() == 1);
  static_cast<void>(read(map_of("init", scalar("normal")), bare));
  CHECK(bare.size() == 1);
  static_cast<void>(read(map_of("init", map_of("uniform", scalar("-1"))), negative));
  CHECK(negative.size() == 1);
}

}  // namespace
}  // namespace trainyard
