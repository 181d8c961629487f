#include "train/optimizer_step.h"

#include <vector>

#include "optim/gradient.h"

namespace trainyard {
namespace {

/// One value per chunk of a block whose entries cover `elements`.
std::size_t chunks_of(std::int64_t elements) {
  return static_cast<std::size_t>((elements + kChunk - 1) / kChunk);
}

/// One segment per parameter.
std::vector<Segment> make_segments(const Model& model, const Optimizer& optimizer) {
  std::vector<Segment> segments;
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Node& node = model.planned_graph().nodes[entry.node];
    const ParameterSpec& spec = node.signature.parameters[entry.index];
    segments.push_back({.rate_multiplier = node.rate_multiplier,
                        .l2 = spec.l2,
                        .decay = optimizer.decay(spec.group),
                        .frozen = node.frozen ? 1 : 0});
  }
  return segments;
}

std::vector<std::int32_t> make_segment_of_chunk(const BlockLayout& layout) {
  std::vector<std::int32_t> segments;
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    segments.insert(segments.end(), chunks_of(layout.parameters[i].shape.elements()),
                    static_cast<std::int32_t>(i));
  }
  return segments;
}

std::vector<StatisticRule> make_statistic_rules(const Model& model) {
  std::vector<StatisticRule> rules;
  for (const BlockEntry& entry : model.blocks().statistics) {
    const StatisticSpec& spec =
        model.planned_graph().nodes[entry.node].signature.statistics[entry.index];
    rules.insert(rules.end(), chunks_of(entry.shape.elements()),
                 {.momentum = spec.momentum, .batch_scale = spec.batch_scale});
  }
  return rules;
}

template <class T>
DeviceArray<T> on_device(const Compute& compute, const std::vector<T>& values) {
  return DeviceArray<T>(compute.device, compute.queue, values);
}

UpdateBlocks blocks_of(const ModelMemory& memory) {
  UpdateBlocks blocks{.type = memory.type(),
                      .weights = memory.weights(),
                      .gradients = memory.gradient_sum(),
                      .state = memory.state()};
  for (int slot = 0; slot < memory.slots(); ++slot) blocks.slots.push_back(memory.slot(slot));
  return blocks;
}

}  // namespace

OptimizerStep::OptimizerStep(Model& model, const Optimizer& optimizer,
                             const OptimizerStepOptions& options, const ResultRows& results)
    : model_(model),
      optimizer_(optimizer),
      options_(options),
      results_(results),
      has_l2_(has_l2(make_segments(model, optimizer))),
      segments_(on_device(model.compute(), make_segments(model, optimizer))),
      segment_of_chunk_(on_device(model.compute(), make_segment_of_chunk(model.blocks()))),
      statistic_rules_(on_device(model.compute(), make_statistic_rules(model))),
      scratch_(model.compute().device, static_cast<std::size_t>(sum_scratch(
                                           static_cast<std::int64_t>(segment_of_chunk_.size())))),
      regularisation_(model.compute().device, 1),
      blocks_(blocks_of(model.memory())) {
  const ModelMemory& memory = model.memory();
  blocks_.segments = segments_.data();
  blocks_.segment_of_chunk = segment_of_chunk_.data();
  blocks_.chunks = static_cast<std::int64_t>(segment_of_chunk_.size());
  const std::int64_t tail =
      model.blocks().parameter_elements * static_cast<std::int64_t>(size_of(memory.type()));
  statistics_ = {.type = memory.type(),
                 .running = memory.running(),
                 .batch = memory.gradient_sum() + tail,
                 .rules = statistic_rules_.data(),
                 .state = memory.state(),
                 .replicas = options.replicas,
                 .chunks = static_cast<std::int64_t>(statistic_rules_.size())};
}

void OptimizerStep::apply() {
  const ModelMemory& memory = model_.memory();
  const UpdateLaunches& launches = model_.compute().launches;
  if (scales_loss()) launches.unscale(blocks_);
  if (has_l2_) launches.add_l2(blocks_);
  double* const norm = memory.results() + ResultRow::gradient_norm;
  launches.gradient_norm(blocks_, scratch_.span(), norm);
  launches.note_nonfinite(memory.state(), norm);
  launches.note_nonfinite(memory.state(), memory.results() + ResultRow::loss);
  if (options_.clip_norm > 0) launches.clip_gradients(blocks_, norm, options_.clip_norm);
  launches.update_running(statistics_);
  launches.update(blocks_, optimizer_.rule(), optimizer_.time_decay());
  model_.publish_weights(WeightChange::step);
  launches.end({.state = memory.state(),
                .current = memory.results(),
                .rows = results_.rows,
                .width = results_.width,
                .capacity = results_.capacity,
                .scale = options_.loss_scale});
}

double OptimizerStep::regularisation_loss() {
  if (!has_l2_) return 0;
  const Compute& compute = model_.compute();
  compute.launches.regularisation_loss(blocks_, scratch_.span(), regularisation_.data());
  return regularisation_.read(compute.queue)[0];
}

}  // namespace trainyard
