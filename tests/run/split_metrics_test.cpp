// Metrics of a whole split: the area under the curve in a run.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "data/sets/memory_dataset.h"
#include "graph_refusal.h"
#include "plain_host.h"
#include "rank_sessions.h"
#include "run/session/session_model.h"
#include "run/session/session_weights.h"
#include "run/split_results.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// One output on synthetic images of two classes, with more keys.
std::string binary(const std::string& more, const std::string& layers = "[dense: 1, sigmoid]",
                   const std::string& loss = "binary_cross_entropy") {
  const std::string data = "{source: synthetic, shape: [1, 2, 3], classes: 2, size: ";
  return "name: tiny\nnetwork: {input: [1, 2, 3], layers: " + layers + "}\ndata: {train: " + data +
         "48}, val: " + data + "37, split: test}, workers: 0}\nbatch: {total: 12}\nloss: " + loss +
         "\noptimizer: {sgd: {lr: 0}}\nepochs: 1\n" + more;
}

class Rows final : public MetricsSink {
 public:
  void on_epoch(const EpochRow& row) override { rows.push_back(row); }
  void on_step(const StepRow&) override {}
  std::vector<EpochRow> rows;
};

class SplitHost final : public PlainHost {
 public:
  explicit SplitHost(const SplitMetrics& metrics) : metrics_(metrics) {}
  void judge(const Metric& metric, std::span<const float> outputs, MetricValue& value) override {
    value.validation = metrics_.value(metric, outputs);
  }

 private:
  const SplitMetrics& metrics_;
};

/// The row of the only epoch, of each rank.
std::vector<EpochRow> rows_of(int ranks, const std::string& yaml) {
  std::vector<EpochRow> all;
  std::mutex mutex;
  const testing::Outcomes outcomes = run_groups(ranks, [&](RankGroup& group) {
    Session session(read_run(yaml), {.threads = 1}, nullptr, group);
    session.model().initialize(3);
    const SplitMetrics metrics(session.config(), *session.data().val,
                               class_weight_policy(session.config(), *session.data().train));
    Rows rows;
    SplitHost host(metrics);
    Trainer trainer({.step = session.step(),
                     .train = *session.data().train_feeder,
                     .val = *session.data().val_feeder,
                     .sink = rows,
                     .ranks = group,
                     .host = host},
                    {.epochs = 1, .best_metric = {.metric = 1, .larger_is_better = true}}, {});
    static_cast<void>(trainer.run());
    const std::lock_guard lock(mutex);
    all.push_back(rows.rows.at(0));
  });
  CHECK(outcomes == testing::Outcomes(static_cast<std::size_t>(ranks)));
  return all;
}

}  // namespace

TEST_CASE("the area under the curve of the validation split is the same on any number of ranks") {
  for (const std::string& yaml :
       {binary("metrics: [accuracy, auc]\n"),
        binary("metrics: [accuracy, auc]\n", "[dense: 2, softmax]", "cross_entropy")}) {
    const EpochRow alone = rows_of(1, yaml).at(0);
    REQUIRE(alone.metrics.size() == 2);
    CHECK(alone.metrics[1].name == "auc");
    CHECK_FALSE(alone.metrics[1].training.has_value());
    CHECK_FALSE(alone.metrics[1].clean.has_value());
    const double area = alone.metrics[1].validation.value();
    CHECK(area > 0);
    CHECK(area < 1);
    CHECK(alone.is_best);
    for (const int ranks : {2, 3}) {
      CAPTURE(ranks);
      for (const EpochRow& row : rows_of(ranks, yaml)) {
        CHECK(row.metrics.at(1).validation == area);
        CHECK(row.metrics.at(0).validation == alone.metrics[0].validation);
      }
    }
  }
}

TEST_CASE("samples that no metric counts are not in the area") {
  MemorySamples samples{
      .image = {1, 1, 1}, .floats = std::vector<float>(5), .labels = {0, 1, 0, 1, 1}, .classes = 2};
  const std::vector<float> own{1, 2, 0, 1, 0};
  const auto bytes = std::as_bytes(std::span(own));
  samples.fields.push_back(
      {.of = {.name = "importance", .type = DType::f32}, .values = {bytes.begin(), bytes.end()}});
  const MemoryDataset set(std::move(samples));
  const RunConfig run = read_run(binary("metrics: [auc]\n"));
  const std::vector<float> outputs{0.5f, 0.25f, 0.75f, 1, -1};
  const Metric& auc = *run.metrics[0];
  const auto value = [&](const std::optional<ClassWeightPolicy>& rule) {
    return SplitMetrics(run, set, rule).value(auc, outputs);
  };
  CHECK(value(std::nullopt) == 2.0 / 6);
  CHECK(value(ClassWeightPolicy{.field = "importance"}) == 0.5);
  CHECK(std::isnan(value(ClassWeightPolicy{.ignored = 0})));
}

TEST_CASE("the area is of samples, and of the last layer alone") {
  const std::string positions =
      "name: tiny\nnetwork: {input: {tokens: 6, vocabulary: 9}, layers: [embedding: 9]}\ndata:\n"
      "  train: {source: synthetic_sequences, steps: 6, vocabulary: 9, labels: every}\n"
      "  val: {source: synthetic_sequences, steps: 6, vocabulary: 9, labels: every, split: test}\n"
      "batch: {per_gpu: 2}\nloss: cross_entropy\noptimizer: sgd\nepochs: 1\nmetrics: [auc]\n";
  CHECK(graph_refusal(positions) ==
        "metric 'auc' needs one label of each sample, but the network predicts at 6 positions; "
        "remove it");
  CHECK(graph_refusal(binary("metrics: [auc: {output: aux}]\n")).find("unknown key 'output'") !=
        std::string::npos);
}

TEST_CASE("the area may select the best model and lower the rate, but has no value in training") {
  const std::string best =
      "metrics: [accuracy, auc]\ncheckpoint: {best: {metric: val_auc, mode: "
      "max}}\nearly_stop: {patience: 2}\n";
  CHECK(graph_refusal(binary(best)) == "accepted");
  const auto monitored = [](const std::string& column) {
    return graph_refusal(binary("metrics: [auc]\nplateau: {monitor: " + column + "}\n"));
  };
  CHECK(monitored("val_auc") == "accepted");
  CHECK(
      monitored("auc").find("plateau: 'monitor': 'auc' is measured on the validation split alone; "
                            "write 'val_auc'") != std::string::npos);
}

TEST_CASE("mean average precision is of classes or, by the loss's target, of several labels") {
  MemorySamples samples{
      .image = {1, 1, 1}, .floats = std::vector<float>(3), .labels = {1, 0, 1}, .classes = 2};
  const std::vector<float> tags{1, 0, 0, 1, 1, 0};
  const auto bytes = std::as_bytes(std::span(tags));
  samples.fields.push_back({.of = {.name = "tags", .shape = {2}, .type = DType::f32},
                            .values = {bytes.begin(), bytes.end()}});
  const MemoryDataset set(std::move(samples));
  const auto value = [&](const std::string& loss, const std::vector<float>& outputs,
                         const std::optional<ClassWeightPolicy>& rule = {}) {
    const RunConfig run =
        read_run(binary("metrics: [mean_average_precision]\n", "[dense: 2]", loss));
    return SplitMetrics(run, set, rule).value(*run.metrics[0], outputs);
  };
  CHECK(value("binary_cross_entropy", {3, 2, 1}) == (1.0 + 2.0 / 3) / 2);
  const std::string of_tags = "{binary_cross_entropy: {target: tags}}";
  // Tag 0: 0.5 at rank 1, then 2 / 2; tag 1: rank 2 of 3.
  CHECK(value(of_tags, {1, 9, 3, 5, 2, 1}) == ((0.5 + 2.0 / 3) / 2 + 0.5) / 2);
  CHECK(value(of_tags, {1, 9, 3, 5, 2, 1}, ClassWeightPolicy{.ignored = 0}) == 1);
}

TEST_CASE("metrics of numbers read the target of the loss on their output, and no label") {
  const std::string price = "{mse: {target: price}}";
  const std::string measured = "metrics: [mae, rmse, r2]\n";
  const TrainingGraph graph =
      make_training_graph(read_run(binary(measured, "[dense: 2]", price)), 2);
  REQUIRE(graph.fields.size() == 1);
  CHECK(graph.fields[0].name == "price");
  const std::vector<std::string> columns{"mae", "rmse", "r2"};
  CHECK(std::ranges::equal(graph.metrics, columns, {}, &GraphMetric::column));
  CHECK(metric_sums(graph) == 2 + 2 + 8);
  const auto on_aux = [&](const std::string& more) {
    return graph_refusal(
        "name: tiny\nnetwork: {input: [1, 2, 3], layers: [{dense: 2, as: aux}, dense: 2], outputs: "
        "[aux]}\ndata: {train: {source: synthetic, shape: [1, 2, 3], classes: 2}, val: {source: "
        "synthetic, shape: [1, 2, 3], classes: 2}}\nbatch: {total: 2}\noptimizer: sgd\nepochs: 1\n"
        "loss: {cross_entropy: {output: aux}}\n" +
        more);
  };
  CHECK(on_aux("metrics: [rmse]\n") ==
        "metric 'rmse' compares the last layer with the target of its loss, but no loss is on it; "
        "add one to 'heads' or remove the metric");
  CHECK(on_aux("metrics: [rmse: {output: aux}]\n") == "accepted");
  CHECK(on_aux("metrics: [rmse]\nheads: [mse: {target: price}]\n") == "accepted");
  const MemoryDataset unlabelled({.image = {1, 1, 1}, .floats = {0}, .labels = {-1}, .classes = 2});
  const auto labels = [&](const std::string& metrics) {
    const RunConfig run = read_run(binary("metrics: [" + metrics + "]\n", "[dense: 2]", price));
    return trainyard::test::refusal([&] { require_labels(run, unlabelled, "it"); });
  };
  CHECK(labels("r2, mean_average_precision") == "accepted");
  CHECK(labels("r2, accuracy").find("has label -1, which is not a class") != std::string::npos);
}
