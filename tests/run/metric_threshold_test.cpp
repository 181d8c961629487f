// The default threshold above which a single output predicts class 1.
#include <doctest/doctest.h>

#include "ops/metric.h"
#include "run/session/session_model.h"
#include "run_text.h"

using namespace trainyard;

namespace {

double threshold_of(const std::string& loss, const std::string& closing,
                    const std::string& accuracy = "accuracy") {
  const RunConfig run =
      test::read_run("name: tiny\nnetwork: {input: [3, 8, 8], layers: [dense: 1" + closing +
                     "]}\nloss: " + loss + "\nmetrics: [" + accuracy + R"(]
batch: {per_gpu: 2}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 2, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 2, size: 18, split: test}
optimizer: sgd
epochs: 1
)");
  const TrainingGraph graph = make_training_graph(run, 2);
  const auto* const metric = dynamic_cast<const TopKOp*>(graph.graph.nodes.back().op.get());
  REQUIRE(metric != nullptr);
  return metric->values().threshold.value();
}

}  // namespace

TEST_CASE("the accuracy of a single output uses the threshold 0.5 unless the loss reads logits") {
  CHECK(threshold_of("mse", ", sigmoid") == 0.5);
  CHECK(threshold_of("mse", "") == 0.5);
  CHECK(threshold_of("binary_cross_entropy", ", sigmoid") == 0);
  CHECK(threshold_of("binary_cross_entropy", "") == 0);
  CHECK(threshold_of("mse", ", sigmoid", "accuracy: {threshold: 0.25}") == 0.25);
  CHECK(threshold_of("mse", "", "accuracy: 0") == 0);
}
