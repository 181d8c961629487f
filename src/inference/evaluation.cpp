#include "inference/evaluation.h"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "inference/outputs_model.h"
#include "inference/prediction.h"
#include "model/training_graph.h"
#include "ops/metric.h"
#include "report/nan_values.h"
#include "run/config/layer_overrides.h"
#include "run/config/losses.h"
#include "run/session/sample_losses.h"
#include "run/session/session_model.h"
#include "run/split_results.h"
#include "train/evaluator.h"

namespace trainyard {
namespace {

constexpr Operation kEvaluating{"evaluation"};

/// The number of outputs that are compared with the label, if that is one class for each sample; 0
/// for others.
std::int64_t classifying_outputs(const StoredModel& stored, const InferenceData& data) {
  const Graph network = build_network(stored.config, 1);
  const Shape output = network.values[network.output].shape;
  const std::int64_t classes = data.set->classes();
  const bool one_label = data.set->fields().at(0).shape.elements() == 1;
  const bool decides = output.c() == classes || (output.c() == 1 && classes <= 2);
  if (!one_label || !decides || output.elements() != output.c()) return 0;
  for (const auto& loss : losses_of(stored.config)) {
    if (loss->values().output.empty() && loss->values().target == kLabelField) return output.c();
  }
  return 0;
}

InferenceOptions options_for(const EvaluationRequest& request, std::int64_t classes) {
  InferenceOptions options{.batch = request.batch, .keep_outputs = classes > 0};
  if (classes == 0) return options;
  options.metrics.push_back(std::make_shared<TopKOp>("accuracy", TopKAttributes{.k = 1}));
  if (request.top > 1 && classes > request.top) {
    options.metrics.push_back(std::make_shared<TopKOp>("top_k", TopKAttributes{.k = request.top}));
  }
  return options;
}

/// `of_split` gives the values of the metrics that need all outputs.
std::vector<EvaluatedValue> values_of(const TrainingGraph& graph, const Totals& totals,
                                      const std::function<double(const Metric&)>& of_split) {
  std::vector<EvaluatedValue> values{
      {"loss", totals.loss / total_weight(graph, totals.metrics, totals.samples)}};
  const std::vector<double> metrics = metric_values(graph, totals.metrics, totals.samples);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const GraphMetric& metric = graph.metrics[i];
    values.push_back({metric.column, is_of_split(metric) ? of_split(*metric.op) : metrics[i]});
  }
  return values;
}

/// `of_split`: why a metric of all outputs is not a number.
std::vector<std::string> faults_of(const TrainingGraph& graph, const Totals& totals,
                                   const std::vector<EvaluatedValue>& values,
                                   const std::string& of_split) {
  const std::int64_t counted = counted_rows(graph, totals.metrics, totals.samples);
  NanValues found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool split = i > 0 && is_of_split(graph.metrics[i - 1]);
    found.add(values[i].name, values[i].value, counted, split ? of_split : "");
  }
  return found.lines();
}

/// True if the network has one prediction for each sample.
bool predicts_samples(const StoredModel& stored) {
  const Graph network = build_network(stored.config, 1);
  const Shape output = network.values[network.output].shape;
  return output.elements() == output.c();
}

/// What predictions.csv has of the split.
std::optional<PredictedSplit> predicted_split(const RunConfig& run, const Dataset& set,
                                              const std::vector<float>& outputs) {
  std::optional<SplitTargets> targets = split_targets(run, set);
  if (!targets) return std::nullopt;
  const bool softmax = targets->loss->type() == kCrossEntropy;
  PredictedSplit split{
      .names = {},
      .outputs = outputs,
      .losses = sample_losses(*targets, outputs, set.size()),
      .numbers = std::move(targets->numbers),
      .labels = std::move(targets->labels),
      .logits = usual_threshold(run) == 0,
      .softmax = softmax,
      .number_names = value_names(
          {.names = {}, .target = targets->field, .width = std::ssize(outputs) / set.size()})};
  targets->field.restore_units(split.outputs);
  targets->field.restore_units(split.numbers);
  for (std::int64_t i = 0; i < set.size(); ++i) split.names.push_back(sample_name(set, i));
  return split;
}

/// The means over views are evaluated as a network's outputs.
Evaluation evaluate_views(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                          const InferenceData& data, EvaluationRequest request) {
  if (!predicts_samples(stored)) {
    refuse_command("--tta is for networks with one prediction for each sample; leave it out");
  }
  const double began = ranks.clock().seconds();
  std::vector<float> outputs;
  predict_stored(stored, device, ranks, data, {.batch = request.batch, .views = request.views},
                 [&](std::span<const float> rows) {
                   outputs.insert(outputs.end(), rows.begin(), rows.end());
                 });
  const OutputsModel known = model_of_outputs(stored, data, std::move(outputs));
  request.views = ViewSet::none;
  Evaluation evaluation = evaluate_stored(known.stored, device, ranks, known.data, request);
  evaluation.seconds = ranks.clock().seconds() - began;
  return evaluation;
}

}  // namespace

Evaluation evaluate_stored(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                           const InferenceData& data, const EvaluationRequest& request) {
  if (request.views != ViewSet::none) return evaluate_views(stored, device, ranks, data, request);
  const std::int64_t classes = classifying_outputs(stored, data);
  const bool of_samples = predicts_samples(stored);
  const bool needs_outputs = of_samples || measures_split(stored.config);
  InferenceOptions options = options_for(request, classes);
  options.keep_outputs = needs_outputs;
  InferenceSession session(stored, device, ranks, data, options);
  const double began = ranks.clock().seconds();
  std::int64_t batch = 0;
  Evaluator evaluator(session.model(), session.feeder(), ranks.communicator());
  const Totals totals = evaluator.run([&] { ranks.progress(++batch, kEvaluating); });
  std::vector<float> outputs;
  if (needs_outputs) outputs = take_outputs(session.model(), ranks.communicator());
  std::string fault;
  const auto of_split = [&](const Metric& metric) {
    const SplitMetrics split(stored.config, *data.set, data.weights);
    fault = split.fault();
    return split.value(metric, outputs);
  };
  Evaluation evaluation{.samples = totals.samples,
                        .values = values_of(session.model().graph(), totals, of_split),
                        .faults = {},
                        .tables = {},
                        .seconds = ranks.clock().seconds() - began};
  evaluation.faults = faults_of(session.model().graph(), totals, evaluation.values, fault);
  if (of_samples) {
    evaluation.predictions = predicted_split(stored.config, *data.set, outputs);
  }
  if (classes == 0) return evaluation;
  evaluation.tables = class_tables(*data.set, outputs, usual_threshold(stored.config),
                                   stored.config.weights.ignore_label);
  return evaluation;
}

}  // namespace trainyard
