#include "inference/evaluation.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "config/load.h"
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

/// Samples whose images are rows of outputs; all else is that of another set.
class OutputSet final : public Dataset {
 public:
  OutputSet(const Dataset& set, std::vector<float> outputs)
      : set_(set), width_(std::ssize(outputs) / set.size()), outputs_(std::move(outputs)) {}
  [[nodiscard]] std::int64_t size() const override { return set_.size(); }
  [[nodiscard]] Shape image_shape() const override { return {width_, 1, 1}; }
  [[nodiscard]] std::int64_t classes() const override { return set_.classes(); }
  void read(std::int64_t index, float* image) const override {
    std::copy_n(outputs_.data() + index * width_, width_, image);
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override { return set_.label(index); }
  [[nodiscard]] std::vector<SampleField> fields() const override { return set_.fields(); }
  void read_field(std::size_t field, std::int64_t index, std::byte* out) const override {
    set_.read_field(field, index, out);
  }
  [[nodiscard]] std::vector<std::string> class_names() const override { return set_.class_names(); }
  [[nodiscard]] std::string fingerprint() const override { return set_.fingerprint(); }
  [[nodiscard]] std::string file(std::int64_t index) const override { return set_.file(index); }
  [[nodiscard]] std::int64_t origin(std::int64_t index) const override {
    return set_.origin(index);
  }

 private:
  const Dataset& set_;
  std::int64_t width_;
  std::vector<float> outputs_;
};

/// The run with a network of `width` numbers that gives these.
RunConfig run_of_outputs(RunConfig run, std::int64_t width) {
  run.network =
      config::parse_yaml("{input: [" + std::to_string(width) + "], layers: [identity]}", "outputs");
  run.freeze.items.clear();
  run.freeze_statistics.items.clear();
  run.lr_mult.entries.clear();
  run.parameters.entries.clear();
  std::erase_if(run.heads, [](const auto& head) { return !head->values().output.empty(); });
  std::erase_if(run.metrics, [](const auto& metric) { return !metric->output.empty(); });
  return run;
}

/// What is left of a stored model where its network's outputs are known: losses and metrics.
struct OutputsModel {
  StoredModel stored;
  InferenceData data;
};

/// Its network gives what it reads. Its samples are `outputs`, [samples, width] of the network's
/// last layer, and otherwise those of `data`, which outlives it. Losses and metrics of other
/// outputs are left out.
OutputsModel model_of_outputs(const StoredModel& stored, const InferenceData& data,
                              std::vector<float> outputs) {
  auto set = std::make_unique<OutputSet>(*data.set, std::move(outputs));
  const Shape row = set->image_shape();
  const std::string none = encode_safetensors({}).head;
  const auto no_weights = std::as_bytes(std::span(none));
  return {.stored = {.run = stored.run,
                     .config = run_of_outputs(stored.config, row[0]),
                     .weights = {.path = stored.weights.path,
                                 .tensors = SafetensorsFile::parse(
                                     {no_weights.begin(), no_weights.end()}, "outputs")},
                     .statistics = {},
                     .vocabulary = {},
                     .samples = stored.samples},
          .data = {.set = std::move(set),
                   .pipeline = std::make_unique<Pipeline>(
                       row, std::vector<std::shared_ptr<const Augmentation>>(),
                       std::vector<std::shared_ptr<const Preprocess>>()),
                   .weights = data.weights}};
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
