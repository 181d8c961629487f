// Metrics and their sums.
#include "functor_harness.h"
#include "launcher/launch.h"
#include "ops/metric.h"
#include "optim/result_sums.h"

namespace trainyard {
namespace {

using namespace test;

/// 1 or 0 for each sample of [labels.size(), classes] values.
std::vector<float> hits(const TopKAttributes& attributes, std::int64_t classes,
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

/// The sums of a table, added to `totals`.
std::vector<double> summed(const ResultTable& table, std::vector<double> totals) {
  CHECK(table.columns() == static_cast<std::int64_t>(totals.size()));
  CpuLauncher(2).rows(table.columns(), ResultSums{table, totals.data()});
  return totals;
}

TEST_CASE("a sum of results adds the valid samples to a running total in double") {
  const std::vector<float> values = {0.1f, 0.2f, std::nanf(""), 0.4f};
  const std::vector<double> wide = {0.1, 0.2, std::nan(""), 0.4};
  const StepState state{.valid = 2};
  const auto totals = summed({.list = {{values.data(), DType::f32}, {wide.data(), DType::f64}},
                              .count = 2,
                              .samples = 4,
                              .state = &state},
                             {1e9, 0.5});
  CHECK(totals[0] == 1e9 + (static_cast<double>(0.1f) + static_cast<double>(0.2f)));
  CHECK(totals[1] == 0.5 + (0.1 + 0.2));
}

TEST_CASE("samples of weight 0 are in no sum, and weights have a sum and a number") {
  const std::vector<float> values = {1, std::nanf(""), 4, 8};
  const std::vector<float> weights = {0.5f, 0, 2, 7};
  const StepState state{.valid = 3};
  CHECK(summed({.list = {{values.data()}, {weights.data()}, {}},
                .count = 3,
                .samples = 4,
                .weights = weights.data(),
                .state = &state},
               {0, 0.25, 0}) == std::vector<double>{5, 2.75, 2});
}

TEST_CASE("a sum of several numbers per sample adds each to its own total") {
  const std::vector<float> values = {1, 10, 100, 2, 20, 200, 4, 40, 400};
  const StepState state{.valid = 2};
  CHECK(
      summed(
          {.list = {{values.data(), DType::f32, 3}, {}}, .count = 2, .samples = 3, .state = &state},
          {0.5, 0, 0, 7}) == std::vector<double>{3.5, 30, 300, 9});
}

TEST_CASE("positions of valid samples are summed, and those of weight 0 are not") {
  const std::vector<float> values = {1, 2, 4, std::nanf(""), 16, 32, 64, 128};  // four samples
  const std::vector<float> weights = {1, 0.5f, 2, 0, 1, 0.25f, 9, 9};
  const StepState state{.valid = 3};
  CHECK(summed({.list = {{values.data()}, {weights.data()}, {}},
                .count = 3,
                .samples = 8,
                .positions = 2,
                .weights = weights.data(),
                .state = &state},
               {0, 0, 0}) == std::vector<double>{1 + 2 + 4 + 16 + 32, 4.75, 5});
}

TEST_CASE("perplexity and bits per character are of the mean cross-entropy") {
  const std::vector<double> sums{3 * std::log(8.0)};
  CHECK(LikelihoodOp("perplexity").finish(sums, 3) == doctest::Approx(8));
  CHECK(LikelihoodOp("bits_per_character").finish(sums, 3) == doctest::Approx(3));
  CHECK(LikelihoodOp("perplexity").reads_logits());
}

/// [labels.size(), 3, classes] counts of values [labels.size(), outputs].
std::vector<float> counts(std::int64_t outputs, const std::vector<double>& values,
                          const std::vector<double>& labels, std::int64_t valid = 100,
                          std::optional<double> threshold = std::nullopt,
                          const char* metric = "macro_precision") {
  const auto samples = static_cast<std::int64_t>(labels.size());
  const std::int64_t classes = outputs == 1 ? 2 : outputs;
  Tensor<float> x({"", plain_layout({samples, outputs})}, values);
  Tensor<float> y({"", plain_layout({samples, 3 * classes})});
  Tensor<std::int32_t> label({"", plain_layout({samples})}, labels);
  const StepState state{.valid = valid};
  StepTensors tensors{.inputs = {x.view(), label.view()}, .outputs = {y.view()}};
  tensors.batch.state = &state;
  test::run(ClassMetricOp(metric, threshold), Pass::forward_eval, DType::f32, tensors, 2);
  return y.elements();
}

std::vector<float> counts_for(const char* metric, std::int64_t outputs,
                              const std::vector<double>& values,
                              const std::vector<double>& labels) {
  return counts(outputs, values, labels, 100, std::nullopt, metric);
}

TEST_CASE("a sample counts for the class it is predicted as, the class of its label, and both") {
  CHECK(counts(3, {1, 5, 2}, {1}) == List{0, 1, 0, 0, 1, 0, 0, 1, 0});
  CHECK(counts(3, {1, 5, 2}, {2}) == List{0, 0, 0, 0, 1, 0, 0, 0, 1});
  CHECK(counts(3, {7, 7, 2}, {1}) == List{0, 0, 0, 1, 0, 0, 0, 1, 0});
}

TEST_CASE("a single output counts for the classes 0 and 1") {
  CHECK(counts(1, {0.25, -0.5}, {1, 1}) == List{0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1});
  CHECK(counts(1, {0.25}, {1}, 100, 0.5) == List{0, 0, 1, 0, 0, 1});
}

TEST_CASE("without macro_ a single output counts for class 1 alone, several for all") {
  CHECK(counts_for("precision", 1, {0.25, -0.5}, {1, 1}) ==
        List{0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1});
  CHECK(counts_for("recall", 1, {0.25, -0.5}, {0, 0}) == List{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(counts_for("f1", 2, {5, 1}, {0}) == counts(2, {5, 1}, {0}));
}

TEST_CASE("F1 of a single output is that of class 1, macro_f1 the mean of both") {
  // labels 1 1 1 0 0, predictions 1 1 0 0 1: F1 is 2/3 of class 1, 1/2 of class 0.
  const std::vector<double> class_1{0, 2, 0, 3, 0, 3}, both{1, 2, 2, 3, 2, 3};
  CHECK(ClassMetricOp("f1", {}).finish(class_1, 5) == 4.0 / 6);
  CHECK(ClassMetricOp("macro_f1", {}).finish(both, 5) == (2.0 / 4 + 4.0 / 6) / 2);
  CHECK(ClassMetricOp("precision", {}).finish(class_1, 5) == 2.0 / 3);
  CHECK(ClassMetricOp("macro_recall", {}).finish(both, 5) == (1.0 / 2 + 2.0 / 3) / 2);
  CHECK(ClassMetricOp("macro_f1", {}).type() == "macro_f1");
}

TEST_CASE("a NaN predicts no class; padding and labels that are no class count nothing") {
  const double nan = std::nan("");
  CHECK(counts(2, {nan, 1}, {1}) == List{0, 0, 0, 0, 0, 1});
  CHECK(counts(2, {1, 2, 1, 2}, {1, 1}, 1) == List{0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(counts(2, {1, 2, 1, 2}, {-1, 2}) == List(12, 0.0f));
}

TEST_CASE("precision, recall and F1 are scikit-learn's macro averages") {
  // labels 0 0 0 1 1 2, predictions 0 0 1 1 2 0; class 3 occurs in neither and is left out.
  const std::vector<double> sums{2, 1, 0, 0, 3, 2, 1, 0, 3, 2, 1, 0};
  CHECK(ClassMetricOp("precision", {}).finish(sums, 6) == (2.0 / 3 + 1.0 / 2 + 0) / 3);
  CHECK(ClassMetricOp("recall", {}).finish(sums, 6) == (2.0 / 3 + 1.0 / 2 + 0) / 3);
  CHECK(ClassMetricOp("f1", {}).finish(sums, 6) == (4.0 / 6 + 2.0 / 4 + 0) / 3);
  const std::vector<double> one_sided{3, 0, 4, 0, 3, 1};
  CHECK(ClassMetricOp("precision", {}).finish(one_sided, 4) == 0.375);
  CHECK(ClassMetricOp("recall", {}).finish(one_sided, 4) == 0.5);
  CHECK(ClassMetricOp("precision", {}).finish(std::vector<double>(6), 0) == 0);
}

TEST_CASE("averages over classes weigh them by their samples, or by whether they have any") {
  // Class 2 has predictions alone, class 3 neither these nor labels.
  const std::vector<double> sums{2, 1, 0, 0, 4, 1, 2, 0, 2, 3, 0, 0}, none(12);
  const auto of = [](const char* name, const std::vector<double>& counts) {
    return ClassMetricOp(name, {}).finish(counts, 5);
  };
  CHECK(of("macro_precision", sums) == doctest::Approx((2.0 / 4 + 1 + 0) / 3));
  CHECK(of("macro_recall", sums) == doctest::Approx((1 + 1.0 / 3 + 0) / 3));
  CHECK(of("macro_f1", sums) == doctest::Approx((4.0 / 6 + 2.0 / 4 + 0) / 3));
  CHECK(of("micro_f1", sums) == doctest::Approx(2.0 * 3 / (7 + 5)));
  CHECK(of("weighted_f1", sums) == doctest::Approx((2 * 4.0 / 6 + 3 * 2.0 / 4) / 5));
  CHECK(of("balanced_accuracy", sums) == doctest::Approx((1 + 1.0 / 3) / 2));
  for (const char* name : {"macro_f1", "micro_f1", "weighted_f1", "balanced_accuracy"}) {
    CHECK(of(name, none) == 0);
  }
}

using Regression = RegressionMetricOp;

TEST_CASE("metrics of numbers average over outputs, r2 by the variance of each target") {
  CHECK(Regression(Regression::Measure::mae).finish(std::vector<double>{6, 2}, 4) == 1);
  CHECK(Regression(Regression::Measure::rmse).finish(std::vector<double>{16, 4}, 4) == 1.5);
  // Sums of (x - t)^2, t and t^2 in two parts, of two outputs.
  const std::vector<double> sums{2, 1, 10, 8, 30, 20, 0, 0.5};
  const Regression r2(Regression::Measure::r2);
  CHECK(r2.finish(sums, 4) == doctest::Approx((1 - 2 / 5.0 + 1 - 1 / 4.5) / 2));
  CHECK(std::isnan(r2.finish(sums, 1)));
}

/// What a metric of two outputs has for three samples, of which two are valid.
std::vector<float> numbers_of(const Op& op, const StoredLayout& numbers, bool labels) {
  Tensor<float> x({"", plain_layout({3, 2})}, {1, 2, 3, 5, 9, 9}), y(numbers);
  Tensor<float> targets({"", plain_layout({3, 2})}, {0.1, 4, 3, -2, 9, 7});
  Tensor<std::int32_t> label({"", plain_layout({3})}, {1, 2, 0});  // 2 is no class
  const StepState state{.valid = 2};
  StepTensors tensors{.inputs = {x.view(), labels ? label.view() : targets.view()},
                      .outputs = {y.view()}};
  tensors.batch.state = &state;
  test::run(op, Pass::forward_eval, DType::f32, tensors, 2);
  return y.elements();
}

TEST_CASE("metrics of numbers have their terms for each valid row and output") {
  const StoredLayout pairs{"", plain_layout({3, 2})}, parts{"", plain_layout({3, 8})};
  const Regression mae(Regression::Measure::mae), rmse(Regression::Measure::rmse);
  CHECK(numbers_of(mae, pairs, false) == List{1 - 0.1f, 2, 0, 7, 0, 0});
  CHECK(numbers_of(rmse, pairs, false) == List{(1 - 0.1f) * (1 - 0.1f), 4, 0, 49, 0, 0});
  const List of_labels = numbers_of(mae, pairs, true);
  CHECK(List(of_labels.begin(), of_labels.begin() + 2) == List{1, 1});
  CHECK(std::isnan(of_labels[2]));
  const float square = 0.1f * 0.1f, rest = std::fma(0.1f, 0.1f, -square);
  const List r2 = numbers_of(Regression(Regression::Measure::r2), parts, false);
  CHECK(List(r2.begin(), r2.begin() + 8) ==
        List{(1 - 0.1f) * (1 - 0.1f), 4, 0.1f, 4, square, 16, rest, 0});
  CHECK(List(r2.begin() + 16, r2.end()) == List(8, 0.0f));
}

TEST_CASE("a likelihood is 0 of a row that is not valid, and NaN of a label that is no class") {
  const List values = numbers_of(LikelihoodOp("perplexity"), {"", plain_layout({3})}, true);
  CHECK(values[0] == doctest::Approx(std::log1p(std::exp(-1.0))));
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == 0);
}

TEST_CASE("metrics have a number or more a row") {
  const auto width = [](const Metric& metric, std::int64_t outputs, const Shape& labels) {
    const std::vector<Shape> shapes{{8, outputs}, labels};
    return metric_width(metric.infer(shapes).outputs[0]);
  };
  CHECK(width(TopKOp("accuracy", {}), 2, {8}) == 1);
  CHECK(width(LikelihoodOp("perplexity"), 2, {8}) == 1);
  CHECK(width(ClassMetricOp("f1", {}), 1, {8}) == 6);
  CHECK(width(ClassMetricOp("f1", {}), 5, {8}) == 15);
  CHECK(width(Regression(Regression::Measure::mae), 1, {8}) == 1);
  CHECK(width(Regression(Regression::Measure::mae), 5, {8, 5}) == 5);
  CHECK(width(Regression(Regression::Measure::r2), 5, {8, 5}) == 20);
  CHECK(TopKOp("accuracy", {}).finish(std::vector<double>{6}, 4) == 1.5);
}

TEST_CASE("metrics of numbers are in the units that targets had before, others stay") {
  const auto mae = std::make_shared<Regression>(Regression::Measure::mae);
  const auto top = std::make_shared<TopKOp>("accuracy", TopKAttributes{});
  CHECK(in_units_of(mae, {3})->finish(std::vector<double>{6}, 4) == 4.5);
  CHECK(in_units_of(mae, {}) == mae);
  CHECK(in_units_of(top, {3}) == top);
}

TEST_CASE("less is better for losses, errors and some metrics, by the end of the column") {
  for (const char* column : {"val_loss", "aux_error", "mae", "aux_rmse", "val_perplexity"}) {
    CHECK(lower_is_better(column));
  }
  for (const char* column : {"accuracy", "r2", "notmae", "mae_r2"}) {
    CHECK_FALSE(lower_is_better(column));
  }
}

}  // namespace
}  // namespace trainyard
