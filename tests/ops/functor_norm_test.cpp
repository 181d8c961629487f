// group_norm where samples are far apart: each is normalised by its own values alone.
#include <array>

#include "functor_harness.h"
#include "op_text.h"

namespace trainyard {
namespace {

using namespace test;

/// The evaluation of three samples of four channels, [3, 4, 1, pixels].
std::vector<double> normalised(const StoredLayout& stored, const std::vector<double>& values) {
  const auto op = test::op_from("{group_norm: {groups: 2, scale: false, center: false}}");
  Tensor<double> x(stored, values), y(stored);
  std::array<double, 1024> workspace = {};
  StepTensors tensors{.inputs = {x.view()}, .outputs = {y.view()}};
  tensors.workspace = workspace.data();
  test::run(*op, Pass::forward_eval, DType::f64, tensors, 2);
  CHECK(y.is_clean());
  return y.elements();
}

TEST_CASE("a group's values are its distances from its mean over its deviation") {
  for (const std::int64_t pixels : {1, 3}) {
    std::vector<double> values, expected;
    for (const double size : {1.0, 1e9, 1e30}) {
      for (int i = 0; i < 4 * pixels; ++i) values.push_back(size * (i * i));
    }
    const auto count = static_cast<std::size_t>(2 * pixels);  // of a group
    for (std::size_t first = 0; first < values.size(); first += count) {
      double mean = 0, spread = 0;
      for (std::size_t i = first; i < first + count; ++i) mean += values[i] / count;
      for (std::size_t i = first; i < first + count; ++i) {
        spread += (values[i] - mean) * (values[i] - mean) / count;
      }
      for (std::size_t i = first; i < first + count; ++i) {
        expected.push_back((values[i] - mean) / std::sqrt(spread + 1e-3));
      }
    }
    for (const StoredLayout& stored : stored_layouts({3, 4, 1, pixels})) {
      CAPTURE(stored.name);
      const std::vector<double> found = normalised(stored, values);
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace trainyard
