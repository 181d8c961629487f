// Metrics and their sums.
#include "functor_harness.h"
#include "kernels/launch.h"
#include "ops/metric.h"
#include "ops/metric_sum.h"

namespace trainyard {
namespace {

using test::StoredLayout;
using test::Tensor;

/// 1 or 0 for each sample of [labels.size(), classes] values.
std::vector<float> hits(const MetricAttributes& attributes, std::int64_t classes,
                        const std::vector<double>& values, const std::vector<double>& labels,
                        std::int64_t valid = 100) {
  const std::int64_t samples = static_cast<std::int64_t>(labels.size());
  const StoredLayout list{"", plain_layout({samples})};
  Tensor<float> x({"", plain_layout({samples, classes})}, values), y(list);
  Tensor<std::int32_t> label(list, labels);
  const StepState state{.valid = valid};
  StepTensors tensors{.inputs = {x.view(), label.view()}, .outputs = {y.view()}};
  tensors.batch.state = &state;
  test::run(TopKOp("top_k", attributes), Pass::forward_eval, DType::f32, tensors, 2);
  return y.elements();
}

using List = std::vector<float>;

TEST_CASE("accuracy is one if the label's value is the largest, the lowest index on a tie") {
  CHECK(hits({}, 3, {1, 2, 0, 1, 2, 0}, {1, 0}) == List{1, 0});
  CHECK(hits({}, 3, {2, 2, 0, 2, 2, 0}, {0, 1}) == List{1, 0});
}

TEST_CASE("top_k counts labels among the k largest values, lower indices first on a tie") {
  CHECK(hits({.k = 2}, 4, {4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1}, {0, 1, 2}) == List{1, 1, 0});
  CHECK(hits({.k = 2}, 4, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 2}) == List{1, 1, 0});
}

TEST_CASE("a single output predicts one above the threshold") {
  CHECK(hits({}, 1, {0.1, -0.1, 0.1, -0.1}, {1, 1, 0, 0}) == List{1, 0, 0, 1});
  CHECK(hits({.threshold = 0.5}, 1, {0.6, 0.4}, {1, 1}) == List{1, 0});
}

TEST_CASE("metrics never count a NaN or a label that is not a class as correct") {
  const double nan = std::nan("");
  CHECK(hits({}, 2, {nan, 1, 2, nan, nan, nan}, {0, 0, 1}) == List{0, 0, 0});
  CHECK(hits({}, 1, {nan, nan}, {0, 1}) == List{0, 0});
  CHECK(hits({}, 2, {1, 2, 1, 2}, {-1, 2}) == List{0, 0});
}

TEST_CASE("samples beyond the valid ones count as zero") {
  CHECK(hits({}, 2, {1, 2, 1, 2, 1, 2}, {1, 1, 1}, 2) == List{1, 1, 0});
}

TEST_CASE("accuracy takes one output") {
  const std::vector<Shape> shapes = {{8, 1}, {8}};
  CHECK(TopKOp("accuracy", {}).infer(shapes).outputs[0] == Shape{8});
}

TEST_CASE("top_k with k equal to the number of classes is refused") {
  const std::vector<Shape> shapes = {{8, 5}, {8}};
  CHECK_THROWS_WITH_AS(static_cast<void>(TopKOp("top_k", {.k = 5}).infer(shapes)),
                       "top_k with k = 5 is always 1 for 5 classes; lower k", ShapeError);
}

TEST_CASE("a metric sum adds the valid samples to a running total in double") {
  const std::vector<float> values = {0.1f, 0.2f, std::nanf(""), 0.4f};
  StepState state{.valid = 2};
  double total = 1e9;
  const CpuLauncher launcher(2);
  launcher.rows(1, MetricSum<float>{values.data(), 4, &state, &total});
  CHECK(total == 1e9 + (static_cast<double>(0.1f) + static_cast<double>(0.2f)));
}

}  // namespace
}  // namespace trainyard
