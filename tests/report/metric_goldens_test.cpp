// Metrics against scikit-learn's (scripts/make_metric_goldens.py).
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "compute/elementwise/loss.h"
#include "config/load.h"
#include "launcher/launch.h"
#include "report/class_scores.h"

namespace trainyard {
namespace {

/// A case of the file.
struct MetricGolden {
  std::string name;
  std::int64_t samples = 0, width = 0;
  std::vector<float> outputs, targets;
  config::Node values;

  [[nodiscard]] std::vector<std::int32_t> labels() const {
    return {targets.begin(), targets.end()};
  }
};

std::vector<float> floats_of(const config::Node& list) {
  std::vector<float> values;
  for (const config::Node& item : list.items) values.push_back(static_cast<float>(item.real));
  return values;
}

std::vector<MetricGolden> metric_goldens() {
  const config::Node file = config::load_yaml(TY_SOURCE_DIR "/tests/report/goldens/metrics.yaml");
  std::vector<MetricGolden> goldens;
  for (const config::Node& item : file.items) {
    MetricGolden one{.name = item.find("name")->text,
                     .samples = item.find("samples")->integer,
                     .outputs = floats_of(*item.find("outputs")),
                     .targets = floats_of(*item.find("targets")),
                     .values = *item.find("values")};
    one.width = std::ssize(one.outputs) / one.samples;
    goldens.push_back(one);
  }
  return goldens;
}

/// The value of a metric whose functors are `Functors` from the numbers of its rows, summed.
template <class Functors, class Op>
double measured(const Op& op, const MetricGolden& golden, bool of_labels) {
  std::vector<float> outputs = golden.outputs, targets = golden.targets;
  std::vector<std::int32_t> labels = golden.labels();
  const Shape shape{golden.samples, golden.width};
  const Shape compared = of_labels ? Shape{golden.samples} : shape;
  const std::vector<Shape> inputs{shape, compared};
  const Shape result = op.infer(inputs).outputs[0];
  const std::int64_t width = metric_width(result);
  std::vector<float> rows(static_cast<std::size_t>(golden.samples * width));
  const StepState state{.valid = golden.samples};
  void* const target = of_labels ? static_cast<void*>(labels.data()) : targets.data();
  StepTensors tensors{
      .inputs = {{outputs.data(), DType::f32, plain_layout(shape)},
                 {target, of_labels ? DType::i32 : DType::f32, plain_layout(compared)}},
      .outputs = {{rows.data(), DType::f32, plain_layout(result)}}};
  tensors.batch.state = &state;
  const FunctorStep step{
      .pass = Pass::forward_eval, .node = 0, .walk = {}, .inputs = {}, .form = {}};
  Functors{{op}}.template run<float>(step, tensors, CpuLauncher(1));
  std::vector<double> sums(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < rows.size(); ++i) sums[i % sums.size()] += rows[i];
  return op.finish(sums, golden.samples);
}

/// `of_labels`: golden's targets are classes.
std::optional<double> value_of(const std::string& metric, const MetricGolden& golden,
                               bool of_labels, bool regression) {
  using Measure = RegressionMetricOp::Measure;
  const auto numbers = [&](Measure measure) {
    return measured<RegressionFunctors>(RegressionMetricOp(measure), golden, false);
  };
  if (regression) {
    return numbers(metric == "mae" ? Measure::mae : metric == "rmse" ? Measure::rmse : Measure::r2);
  }
  if (metric != "mean_average_precision") {
    return measured<ClassMetricFunctors>(ClassMetricOp(metric, {}), golden, true);
  }
  if (!of_labels) {
    return mean_average_precision(
        golden.outputs, golden.targets,
        std::vector<bool>(static_cast<std::size_t>(golden.samples), true));
  }
  const std::vector<std::int32_t> labels = golden.labels();
  return mean_average_precision({.rows = golden.outputs,
                                 .labels = labels,
                                 .classes = std::max<std::int64_t>(golden.width, 2)});
}

TEST_CASE("metrics are scikit-learn's") {
  const std::vector<MetricGolden> goldens = metric_goldens();
  REQUIRE(goldens.size() >= 15);
  for (const MetricGolden& golden : goldens) {
    CAPTURE(golden.name);
    const bool regression = golden.name.starts_with("regression");
    const bool of_labels = golden.name.starts_with("classes");
    for (const config::Entry& entry : golden.values.entries) {
      CAPTURE(entry.key);
      const std::optional<double> value = value_of(entry.key, golden, of_labels, regression);
      REQUIRE(value.has_value());
      // Rows of regressions are rounded to float.
      const double allowed =
          (regression ? 1e-6 : 1e-14) * std::max(1.0, std::abs(entry.value.real));
      CHECK(std::abs(*value - entry.value.real) <= allowed);
    }
  }
}

MetricGolden rows_of_numbers(std::vector<float> outputs, std::vector<float> targets,
                             std::int64_t width = 1) {
  MetricGolden rows;
  rows.samples = std::ssize(outputs) / width;
  rows.width = width;
  rows.outputs = std::move(outputs);
  rows.targets = std::move(targets);
  return rows;
}

double r2_of(const MetricGolden& rows, bool of_labels = false) {
  return measured<RegressionFunctors>(RegressionMetricOp(RegressionMetricOp::Measure::r2), rows,
                                      of_labels);
}

TEST_CASE("r2 keeps its digits where targets are large beside their spread") {
  std::vector<float> targets, outputs;
  for (int i = 0; i < 1000; ++i) {
    targets.push_back(100'000.0F + static_cast<float>(i % 2));
    outputs.push_back(100'000.0F + static_cast<float>(i % 2) + (i % 4 < 2 ? 0.25F : -0.25F));
  }
  CHECK(r2_of(rows_of_numbers(outputs, targets)) ==
        doctest::Approx(1 - 0.0625 / 0.25).epsilon(1e-6));
}

TEST_CASE("the edges of r2: constant targets, a single sample, outputs that are not numbers") {
  CHECK(r2_of(rows_of_numbers({0.1F, 0.1F, 0.1F}, {0.1F, 0.1F, 0.1F})) == 1);
  CHECK(r2_of(rows_of_numbers({0.1F, 0.2F, 0.1F}, {0.1F, 0.1F, 0.1F})) == 0);
  CHECK(r2_of(rows_of_numbers({0, 1}, {0, 0})) == 0);
  CHECK(std::isnan(r2_of(rows_of_numbers({1}, {1}))));
  CHECK(std::isnan(r2_of(rows_of_numbers({std::nanf(""), 1}, {1, 2}))));
  CHECK(std::isnan(r2_of(rows_of_numbers({std::nanf(""), 1}, {2, 2}))));
}

TEST_CASE("a label is a number of a single output, else 1 for its class's output") {
  CHECK(r2_of(rows_of_numbers({0, 1, 1}, {0, 1, 1}), true) == 1);
  const MetricGolden two = rows_of_numbers({1, 0, 0, 0.5F}, {0, 1}, 2);
  const RegressionMetricOp mae(RegressionMetricOp::Measure::mae);
  const RegressionMetricOp rmse(RegressionMetricOp::Measure::rmse);
  CHECK(measured<RegressionFunctors>(mae, two, true) == 0.125);
  CHECK(measured<RegressionFunctors>(rmse, two, true) == doctest::Approx(std::sqrt(0.125) / 2));
}

TEST_CASE("differences from standardised targets are told in the units of each output") {
  const MetricGolden rows = rows_of_numbers({1, 2, 0, 4}, {0, 0, 0, 0}, 2);
  using Measure = RegressionMetricOp::Measure;
  const auto value = [&](Measure measure, std::vector<double> deviations) {
    return measured<RegressionFunctors>(RegressionMetricOp(measure, std::move(deviations)), rows,
                                        false);
  };
  CHECK(value(Measure::mae, {}) == 1.75);
  CHECK(value(Measure::mae, {10, 100}) == (5 + 300) / 2.0);
  CHECK(value(Measure::rmse, {10, 100}) ==
        doctest::Approx((10 * std::sqrt(0.5) + 100 * std::sqrt(10.0)) / 2));
  CHECK(value(Measure::r2, {10, 100}) == value(Measure::r2, {}));
}

TEST_CASE("an average precision needs a sample of the class and scores that are numbers") {
  CHECK(average_precision({{3, true}, {2, false}, {1, true}}).value() == (1.0 + 2.0 / 3) / 2);
  CHECK(average_precision({{1, true}, {1, false}}).value() == 0.5);
  CHECK(average_precision({{1, true}}).value() == 1);
  CHECK_FALSE(average_precision({{1, false}}).has_value());
  CHECK_FALSE(average_precision({}).has_value());
  CHECK_FALSE(average_precision({{std::nan(""), true}, {1, true}}).has_value());
  const std::vector<float> rows{1, 2, 3, 4}, none(4, 0.0F), some{1, 0, 0, 0};
  CHECK_FALSE(mean_average_precision(rows, none, {true, true}).has_value());
  CHECK(mean_average_precision(rows, some, {true, true}).value() == 0.5);
  CHECK_FALSE(mean_average_precision(rows, some, {false, true}).has_value());
}

TEST_CASE("averages of F1 of classes that are absent") {
  // right, predicted, labelled of three classes: the last one occurs in neither.
  const std::vector<double> sums{1, 0, 0, 2, 1, 0, 3, 0, 0};
  CHECK(ClassMetricOp("micro_f1", {}).finish(sums, 3) == 2.0 / 6);
  CHECK(ClassMetricOp("weighted_f1", {}).finish(sums, 3) == doctest::Approx(0.4));
  CHECK(ClassMetricOp("balanced_accuracy", {}).finish(sums, 3) == 1.0 / 3);
  for (const char* name : {"micro_f1", "weighted_f1", "balanced_accuracy"}) {
    CHECK(ClassMetricOp(name, {}).finish(std::vector<double>(6), 0) == 0);
  }
}

TEST_CASE("less is better of errors and perplexities, by the end of their column's name") {
  for (const char* column : {"val_loss", "mae", "val_rmse", "aux_mae", "val_perplexity",
                             "bits_per_character", "val_aux_bits_per_character", "error"}) {
    CHECK_MESSAGE(lower_is_better(column), column);
  }
  for (const char* column : {"accuracy", "val_r2", "weighted_f1", "mean_average_precision", "xmae",
                             "val_mae_accuracy", "balanced_accuracy", "auc"}) {
    CHECK_MESSAGE(!lower_is_better(column), column);
  }
}

}  // namespace
}  // namespace trainyard
