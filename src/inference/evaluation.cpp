#include "inference/evaluation.h"

#include <memory>

#include "model/training_graph.h"
#include "ops/top_k.h"
#include "run/config/layer_rules.h"
#include "run/config/losses.h"
#include "run/session/session_model.h"
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

std::vector<EvaluatedValue> values_of(const TrainingGraph& graph, const Totals& totals) {
  std::vector<EvaluatedValue> values{
      {"loss", totals.loss / weight_of(graph, totals.metrics, totals.samples)}};
  const std::vector<std::string> names = metric_columns(graph);
  const std::vector<double> metrics = metric_values(graph, totals.metrics, totals.samples);
  for (std::size_t i = 0; i < names.size(); ++i) values.push_back({names[i], metrics[i]});
  return values;
}

}  // namespace

Evaluation evaluate_stored(const StoredModel& stored, SessionDevice& device, RankGroup& ranks,
                           const InferenceData& data, const EvaluationRequest& request) {
  const std::int64_t classes = classifying_outputs(stored, data);
  InferenceSession session(stored, device, ranks, data, options_for(request, classes));
  const double began = ranks.clock().seconds();
  std::int64_t batch = 0;
  const Totals totals = evaluate(session.model(), session.feeder(), ranks.communicator(),
                                 [&] { ranks.progress(++batch, kEvaluating); });
  Evaluation evaluation{.samples = totals.samples,
                        .values = values_of(session.model().graph(), totals),
                        .tables = {},
                        .seconds = ranks.clock().seconds() - began};
  if (classes == 0) return evaluation;
  const std::vector<float> outputs = take_outputs(session.model(), ranks.communicator());
  evaluation.tables = class_tables(*data.set, outputs, usual_threshold(stored.config),
                                   stored.config.weights.ignore_label);
  return evaluation;
}

}  // namespace trainyard
