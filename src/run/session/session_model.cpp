#include "run/session/session_model.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "run/config/layer_overrides.h"
#include "run/config/losses.h"
#include "run/config/parameter_overrides.h"

namespace trainyard {
namespace {

LossScale loss_scale_of(const RunConfig& run) {
  if (!run.loss_scale) return {};
  return {.start = run.loss_scale->start,
          .dynamic = run.loss_scale->dynamic,
          .growth = run.loss_scale->growth};
}

DType transport_of(const RunConfig& run) {
  using Transport = RanksConfig::Transport;
  const Transport transport = run.ranks.transport;
  return transport == Transport::bf16   ? DType::bf16
         : transport == Transport::fp16 ? DType::f16
                                        : DType::f32;
}

/// Throws Error{config} for a metric of logits on an output that its loss reads as something else.
void require_logits(const RunConfig& run, const Metric& metric) {
  if (!metric.reads_logits()) return;
  for (const auto& loss : losses_of(run)) {
    if (loss->values().output != metric.output || loss->type() == kCrossEntropy) continue;
    throw config_error("metric '" + column_of(metric) +
                       "' is made of the cross-entropy, but the loss of its output is " +
                       std::string(loss->type()) + "; set 'loss: cross_entropy'");
  }
}

/// The deviations of the target of the loss on `output`, if it is standardised.
std::vector<double> deviations_for(const RunConfig& run, const std::string& output,
                                   const std::vector<SampleField>& fields) {
  for (const auto& loss : losses_of(run)) {
    if (loss->values().output != output) continue;
    const auto field = std::ranges::find(fields, loss->values().target, &SampleField::name);
    if (field != fields.end()) return field->deviation;
  }
  return {};
}

}  // namespace

bool measures_split(const RunConfig& run) {
  return std::ranges::any_of(run.metrics, [](const auto& metric) { return metric->of_split(); });
}

double usual_threshold(const RunConfig& run, const std::string& output) {
  std::string_view loss = run.loss->type();
  for (const auto& one : losses_of(run)) {
    if (one->values().output == output) loss = one->type();
  }
  // A loss without an activation compares the output itself with the labels 0 and 1.
  return activation_of(loss).empty() ? 0.5 : 0;
}

std::vector<SampleField> usual_fields(const RunConfig& run, const Graph& network) {
  std::vector<SampleField> fields{SampleField{}};
  for (const auto& loss : losses_of(run)) {
    const LossAttributes& of = loss->values();
    const Shape output = network.values[output_named(network, of.output)].shape;
    if (of.target == kLabelField && output.rank() == 4) fields[0].shape = {output.w()};
    if (of.target == kLabelField) continue;
    fields.push_back({.name = of.target, .shape = {output.c()}, .type = DType::f32});
  }
  return fields;
}

TrainingGraph make_training_graph(const RunConfig& run, std::int64_t batch) {
  Graph network = build_network(run, batch);
  const std::vector<SampleField> fields = usual_fields(run, network);
  return training_graph_of(run, std::move(network), fields);
}

TrainingGraph training_graph_of(const RunConfig& run, Graph network,
                                const std::vector<SampleField>& fields) {
  std::vector<std::shared_ptr<const Metric>> metrics;
  for (const auto& metric : run.metrics) {
    require_logits(run, *metric);
    const std::shared_ptr<const Metric> usual =
        metric->with_threshold(usual_threshold(run, metric->output));
    metrics.push_back(
        in_units_of(usual ? usual : metric, deviations_for(run, metric->output, fields)));
  }
  TrainingGraph graph = attach_objectives(std::move(network), {.losses = losses_of(run),
                                                               .metrics = std::move(metrics),
                                                               .fields = fields,
                                                               .weighted = run.weights.any(),
                                                               .mixed = run.data.mix.has_value()});
  if (run.output.classes && graph.positions > 1) {
    throw config_error(
        "'output.classes' makes tables of one label for each sample, but the network predicts at " +
        std::to_string(graph.positions) + " positions; remove it");
  }
  return graph;
}

std::optional<AverageOptions> average_options(const RunConfig& run) {
  if (run.lookahead) {
    return AverageOptions{
        .judged = false, .looks_ahead = true, .statistics = run.lookahead->statistics};
  }
  if (!run.average) return std::nullopt;
  return AverageOptions{.rule = {.decay = run.average->ema,
                                 .every = run.average->every,
                                 .warmup = run.average->warmup},
                        .judged = run.average->judged == AverageConfig::Judged::average};
}

ModelOptions model_options(const RunConfig& run, const SessionDevice& device, std::int64_t shards,
                           StatisticsSum* statistics, std::int64_t val_samples) {
  return {.target = device.target,
          .threads = device.threads,
          .seed = static_cast<std::uint64_t>(run.seed),
          .slots = state_blocks(run),
          .average = average_options(run),
          .accumulates = run.accumulate > 1,
          .shards = shards,
          .kept_outputs = run.output.classes || measures_split(run) ? val_samples : 0,
          .statistics_sum = statistics};
}

StepOptions step_options(const RunConfig& run, const SessionDevice& device, const Graph& network,
                         std::int64_t steps) {
  config::Diagnostics diagnostics;  // the rules were checked with the network
  return {.clip_norm = run.clip_norm,
          .accumulate = run.accumulate,
          .shards = run.batch.shards.value_or(0),
          .results = device.results_kept,
          .loss_scale = loss_scale_of(run),
          .parameters = parameter_overrides(run, network, steps, diagnostics),
          .lookahead = run.lookahead,
          .transport = transport_of(run)};
}

}  // namespace trainyard
