#include "run/session/session_model.h"

#include <memory>
#include <utility>
#include <vector>

#include "ops/metric.h"
#include "run/config/layer_rules.h"

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

}  // namespace

TrainingGraph make_training_graph(const RunConfig& run, std::int64_t batch) {
  Graph network = build_network(run, batch);
  std::vector<std::shared_ptr<const Op>> metrics;
  // A loss without an activation compares the output itself with the labels 0 and 1.
  const double threshold = activation_of(run.loss->type()).empty() ? 0.5 : 0;
  for (const auto& metric : run.metrics) metrics.push_back(with_threshold(metric, threshold));
  return attach_loss(std::move(network), run.loss, metrics);
}

ModelOptions model_options(const RunConfig& run, const SessionDevice& device, std::int64_t shards,
                           StatisticsSum* statistics) {
  return {.target = device.target,
          .threads = device.threads,
          .seed = static_cast<std::uint64_t>(run.seed),
          .slots = static_cast<int>(run.optimizer->slots().size()),
          .accumulates = run.accumulate > 1,
          .shards = shards,
          .statistics_sum = statistics};
}

StepOptions update_options(const RunConfig& run, const SessionDevice& device) {
  return {.clip_norm = run.clip_norm,
          .accumulate = run.accumulate,
          .shards = run.batch.shards.value_or(0),
          .results = device.results_kept,
          .loss_scale = loss_scale_of(run),
          .transport = transport_of(run)};
}

}  // namespace trainyard
