#include "train/optimizer_step.h"

#include <span>
#include <vector>

#include "optim/gradient.h"

namespace trainyard {
namespace {

/// One value per chunk of a block whose entries cover `elements`.
std::size_t chunks_of(std::int64_t elements) {
  return static_cast<std::size_t>((elements + kChunk - 1) / kChunk);
}

/// Changes what the parameter's rule gives.
void apply_rule(const ParameterRule& rule, bool decoupled, Segment& segment) {
  segment.rate_multiplier = rule.rate_multiplier.value_or(segment.rate_multiplier);
  double& decay = decoupled ? segment.decoupled_decay : segment.decay;
  decay = rule.weight_decay.value_or(decay);
  segment.first_step = rule.first_step.value_or(segment.first_step);
  segment.end_step = rule.end_step.value_or(segment.end_step);
}

/// One segment per parameter.
std::vector<Segment> make_segments(const Model& model, const Optimizer& optimizer,
                                   const ParameterRules& rules) {
  std::vector<Segment> segments;
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Node& node = model.planned_graph().nodes[entry.node];
    const ParameterSpec& spec = node.signature.parameters[entry.index];
    const Optimizer& own = optimizer_of(entry.name, optimizer, rules);
    const double decay = own.weight_decay.of(spec.group);
    const bool decoupled = own.weight_decay.decoupled;
    Segment& segment = segments.emplace_back();
    segment = {.rate_multiplier = node.rate_multiplier,
               .l2 = spec.l2,
               .decay = decoupled ? 0 : decay,
               .frozen = node.frozen ? 1 : 0,
               .adapted = is_one_of(spec.group, own.ratio_on) ? 1 : 0,
               .decoupled_decay = decoupled ? decay : 0};
    const auto rule = rules.find(entry.name);
    if (rule != rules.end()) apply_rule(rule->second, decoupled, segment);
    if (&own != &optimizer) segment.rate_multiplier *= own.rate / optimizer.rate;
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
      options_(options),
      groups_(make_rule_groups(model, optimizer, options_.parameters)),
      results_(results),
      has_l2_(has_l2(make_segments(model, optimizer, options.parameters))),
      segments_(on_device(model.compute(), make_segments(model, optimizer, options.parameters))),
      segment_of_chunk_(on_device(model.compute(), make_segment_of_chunk(model.blocks()))),
      statistic_rules_(on_device(model.compute(), make_statistic_rules(model))),
      scratch_(model.compute().device, static_cast<std::size_t>(sum_scratch(
                                           static_cast<std::int64_t>(segment_of_chunk_.size())))),
      regularisation_(model.compute().device, 1),
      blocks_(blocks_of(model.memory())) {
  start_slots(model, optimizer, options_.parameters);
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

void OptimizerStep::start_at(std::int64_t finished) {
  for (RuleGroup& group : groups_) {
    const double number = running_number(group.optimizer->rule, finished);
    group.running_number.write(model_.compute().queue, std::span(&number, 1));
  }
}

void OptimizerStep::update() {
  for (const RuleGroup& group : groups_) {
    blocks_.running_number = group.running_number.data();
    blocks_.norms = group.norms ? group.norms->view() : NormBlocks{};
    blocks_.updated = group.chunks ? group.chunks->data() : nullptr;
    blocks_.updated_chunks = group.chunks ? static_cast<std::int64_t>(group.chunks->size()) : 0;
    model_.compute().launches.update(blocks_, group.optimizer->rule, group.optimizer->time_decay);
  }
}

void OptimizerStep::apply() {
  const ModelMemory& memory = model_.memory();
  const UpdateLaunches& launches = model_.compute().launches;
  if (scales_loss()) launches.unscale(blocks_);
  if (const auto sum = weight_sums(model_.graph())) {
    const double* const weights = memory.results() + ResultRow::loss + 1 + *sum;
    launches.divide_by_weights(blocks_, options_.samples, weights);
  }
  if (has_l2_) launches.add_l2(blocks_);
  double* const norm = memory.results() + ResultRow::gradient_norm;
  launches.gradient_norm(blocks_, scratch_.span(), norm);
  launches.note_nonfinite(memory.state(), norm);
  launches.note_nonfinite(memory.state(), memory.results() + ResultRow::loss);
  if (options_.clip_norm > 0) launches.clip_gradients(blocks_, norm, options_.clip_norm);
  launches.update_running(statistics_);
  update();
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
