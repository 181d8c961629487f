#include "train/optimizer_step.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "optim/gradient.h"
#include "plan/blocks.h"

namespace trainyard {
namespace {

/// The chunks of an entry of a block.
std::int64_t chunks_of(const BlockEntry& entry) {
  return (entry.shape.elements() + kChunk - 1) / kChunk;
}

/// An optimizer with its chunks, on the host.
struct ChunksOf {
  const Optimizer* optimizer;
  std::vector<std::int32_t> chunks;
};

std::vector<ChunksOf> chunks_by_optimizer(const Model& model, const Optimizer& usual,
                                          const ParameterOverrides& overrides) {
  std::vector<ChunksOf> list{{&usual, {}}};
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Optimizer* own = &optimizer_of(entry.name, usual, overrides);
    auto found = std::ranges::find(list, own, &ChunksOf::optimizer);
    if (found == list.end()) found = list.insert(found, {own, {}});
    for (std::int64_t chunk = 0; chunk < chunks_of(entry); ++chunk) {
      found->chunks.push_back(static_cast<std::int32_t>(entry.offset / kChunk + chunk));
    }
  }
  if (list[0].chunks.empty() && list.size() > 1) list.erase(list.begin());
  return list;
}

/// Changes what the parameter's override gives.
void apply_override(const ParameterOverride& own, bool decoupled, Segment& segment) {
  segment.rate_multiplier = own.rate_multiplier.value_or(segment.rate_multiplier);
  double& decay = decoupled ? segment.decoupled_decay : segment.decay;
  decay = own.weight_decay.value_or(decay);
  segment.first_step = own.first_step.value_or(segment.first_step);
  segment.end_step = own.end_step.value_or(segment.end_step);
}

/// One segment per parameter.
std::vector<Segment> make_segments(const Model& model, const Optimizer& optimizer,
                                   const ParameterOverrides& overrides) {
  std::vector<Segment> segments;
  const std::vector<bool> written = written_entries(model.train().plan(), model.blocks());
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Node& node = model.planned_graph().nodes[entry.node];
    const ParameterSpec& spec = node.signature.parameters[entry.index];
    const Optimizer& own = optimizer_of(entry.name, optimizer, overrides);
    const double decay = own.weight_decay.of(spec.group);
    const bool decoupled = own.weight_decay.decoupled;
    const bool unwritten = !node.frozen && !written[segments.size()];
    Segment& segment = segments.emplace_back();
    segment = {.rate_multiplier = node.rate_multiplier,
               .l2 = spec.l2,
               .decay = decoupled ? 0 : decay,
               .frozen = node.frozen ? 1 : 0,
               .adapted = is_one_of(spec.group, own.ratio_on) ? 1 : 0,
               .decoupled_decay = decoupled ? decay : 0,
               .unwritten = unwritten ? 1 : 0,
               .rows = entry.shape[0]};
    const auto found = overrides.find(entry.name);
    if (found != overrides.end()) apply_override(found->second, decoupled, segment);
    if (&own != &optimizer) segment.rate_multiplier *= own.rate / optimizer.rate;
  }
  return segments;
}

std::vector<StatisticPolicy> make_statistic_rules(const Model& model) {
  std::vector<StatisticPolicy> rules;
  for (const BlockEntry& entry : model.blocks().statistics) {
    const StatisticSpec& spec =
        model.planned_graph().nodes[entry.node].signature.statistics[entry.index];
    rules.insert(rules.end(), static_cast<std::size_t>(chunks_of(entry)),
                 {.momentum = spec.momentum, .batch_scale = spec.batch_scale});
  }
  return rules;
}

/// The means of batch norms whose layers leave out their biases.
std::vector<BiasedMeans> make_biased_means(const Model& model) {
  std::vector<BiasedMeans> all;
  const BlockLayout& blocks = model.blocks();
  for (const auto& [layer, norm] : model.train().plan().cancelled_biases) {
    const BlockEntry& bias = blocks.parameters.at(blocks.parameter_of_node[layer].back());
    const BlockEntry& mean = blocks.statistics.at(blocks.statistic_of_node[norm].front());
    const std::int64_t means = (blocks.parameter_elements + mean.offset) / kChunk;
    for (std::int64_t chunk = 0; chunk < chunks_of(bias); ++chunk) {
      all.push_back({.means = means + chunk, .biases = bias.offset / kChunk + chunk});
    }
  }
  return all;
}

template <class T>
DeviceArray<T> on_device(const Compute& compute, const std::vector<T>& values) {
  return DeviceArray<T>(compute.device, compute.queue, values);
}

UpdateBlocks blocks_in(const ModelMemory& memory) {
  UpdateBlocks blocks{.type = memory.type(),
                      .weights = memory.weights(),
                      .gradients = memory.gradient_sum(),
                      .state = memory.state()};
  for (int slot = 0; slot < memory.slots(); ++slot) blocks.slots.push_back(memory.slot(slot));
  return blocks;
}

PackedForm form_of(const WeightShape& shape, const BlockEntry& entry, const TensorView& packed) {
  const WeightShape::Strides strides = shape.strides();
  return {.data = packed.data,
          .type = packed.type,
          .first = entry.offset,
          .elements = entry.shape.elements(),
          .channels = static_cast<std::uint32_t>(shape.channels),
          .places = static_cast<std::uint32_t>(shape.height * shape.width),
          .filter_stride = strides.filter,
          .channel_stride = strides.channel,
          .place_stride = strides.place,
          .origin = strides.origin};
}

/// Adds a form to those of its parameter; false if there is no room.
bool add_form(const BlockLayout& blocks, std::int64_t parameter, const WeightShape& shape,
              const TensorView& packed, std::vector<PackedForms>& forms) {
  auto& own = forms[static_cast<std::size_t>(parameter)].form;
  PackedForm* const free = std::ranges::find(own, nullptr, &PackedForm::data);
  if (free == std::end(own)) return false;
  *free = form_of(shape, blocks.parameters[static_cast<std::size_t>(parameter)], packed);
  return true;
}

/// Makes the training program leave its gradients packed. Nothing, and no change, where results or
/// a parameter's forms are too many for one launch.
std::optional<MergedStep> merge_step(Model& model) {
  const BlockLayout& blocks = model.blocks();
  const std::optional<ResultSums> results = model.train_results().in_one();
  if (!results) return std::nullopt;
  std::vector<PackedForms> weights(blocks.parameters.size()), gradients = weights;
  for (const PackedEntry& entry : blocks.packed.entries) {
    const TensorView packed = blocks.packed.view(model.memory().trained().packed, entry);
    if (!add_form(blocks, entry.parameter, entry.shape, packed, weights)) return std::nullopt;
  }
  std::size_t bytes = 0;
  for (const auto& [parameter, shape, packed] : model.train().leave_packed()) {
    TY_CHECK(add_form(blocks, parameter, shape, packed, gradients),
             "a gradient is that of one step");
    bytes += static_cast<std::size_t>(shape.packed_elements()) * size_of(packed.type);
  }
  const Compute& compute = model.compute();
  return MergedStep{.results = *results,
                    .gradients = {compute.device, compute.queue, gradients},
                    .gradient_bytes = bytes,
                    .weights = {compute.device, compute.queue, weights}};
}

/// The parameter of each chunk, by its index in the layout.
std::vector<std::int32_t> make_segment_of_chunk(const BlockLayout& layout) {
  std::vector<std::int32_t> segments;
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    segments.insert(segments.end(), static_cast<std::size_t>(chunks_of(layout.parameters[i])),
                    static_cast<std::int32_t>(i));
  }
  return segments;
}

/// One group per optimizer, that of the run first if a parameter has it. `overrides` and `usual`
/// must outlive the groups.
std::vector<OptimizerGroup> make_optimizer_groups(const Model& model, const Optimizer& usual,
                                                  const ParameterOverrides& overrides) {
  const Compute& compute = model.compute();
  const std::vector<ChunksOf> list = chunks_by_optimizer(model, usual, overrides);
  const std::vector<std::int32_t> segments = make_segment_of_chunk(model.blocks());
  std::vector<OptimizerGroup> groups;
  for (const ChunksOf& own : list) {
    const ChunkSpans spans = chunk_spans(segments, own.chunks);
    OptimizerGroup& group = groups.emplace_back(
        OptimizerGroup{own.optimizer,
                       DeviceArray<ChunkSpan>(compute.device, compute.queue, spans.spans),
                       static_cast<std::int64_t>(own.chunks.size()),
                       DeviceArray<double>(compute.device, 1),
                       {},
                       {}});
    if (needs_norms(own.optimizer->rule)) {
      group.norms.emplace(compute, spans, model.blocks().parameters.size());
    }
    const auto* muon = std::get_if<Muon>(&own.optimizer->rule);
    if (muon != nullptr) group.matrices.emplace(model, *muon, spans);
  }
  return groups;
}

/// Sets the state of each parameter to the value that it starts from; memory begins as 0.
void start_slots(Model& model, const Optimizer& usual, const ParameterOverrides& overrides) {
  const ModelMemory& memory = model.memory();
  for (const BlockEntry& entry : model.blocks().parameters) {
    const std::vector<OptimizerSlot>& slots = optimizer_of(entry.name, usual, overrides).slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].start == 0) continue;
      with_arithmetic(memory.type(), [&]<class T>(T) {
        const std::vector<T> values(static_cast<std::size_t>(chunks_of(entry) * kChunk),
                                    static_cast<T>(slots[slot].start));
        T* const block = reinterpret_cast<T*>(memory.slot(static_cast<int>(slot)));
        model.compute().queue.copy_from_host(block + entry.offset, values.data(),
                                             values.size() * sizeof(T));
        model.compute().queue.wait();
      });
    }
  }
}

}  // namespace

ParameterNorms::ParameterNorms(const Compute& compute, const ChunkSpans& spans,
                               std::size_t segments)
    : segments_(compute.device, compute.queue, spans.segments),
      partials_(compute.device, spans.spans.size()),
      norms_(compute.device, segments) {}

NormBlocks ParameterNorms::view() const {
  return {.segments = segments_.data(),
          .segment_count = static_cast<std::int64_t>(segments_.size()),
          .partials = partials_.data(),
          .norms = norms_.data()};
}

OptimizerStep::OptimizerStep(Model& model, const Optimizer& optimizer,
                             const OptimizerStepOptions& options, const ResultRows& results)
    : model_(model),
      options_(options),
      groups_(make_optimizer_groups(model, optimizer, options_.parameters)),
      results_(results),
      has_l2_(has_l2(make_segments(model, optimizer, options.parameters))),
      segments_(on_device(model.compute(), make_segments(model, optimizer, options.parameters))),
      spans_(on_device(model.compute(), chunk_spans(make_segment_of_chunk(model.blocks())).spans)),
      statistic_rules_(on_device(model.compute(), make_statistic_rules(model))),
      biased_means_(on_device(model.compute(), make_biased_means(model))),
      partials_(model.compute().device, spans_.size()),
      finished_(on_device(model.compute(), std::vector<std::uint32_t>{0})),
      regularisation_(model.compute().device, 1),
      blocks_(blocks_in(model.memory())),
      time_decay_(optimizer.time_decay) {
  start_slots(model, optimizer, options_.parameters);
  const ModelMemory& memory = model.memory();
  blocks_.segments = segments_.data();
  blocks_.spans = spans_.data();
  blocks_.span_count = static_cast<std::int64_t>(spans_.size());
  blocks_.chunks = model.blocks().parameter_elements / kChunk;
  const std::int64_t tail =
      model.blocks().parameter_elements * static_cast<std::int64_t>(size_of(memory.type()));
  statistics_ = {.running = memory.running(),
                 .batch = memory.gradient_sum() + tail,
                 .rules = statistic_rules_.data(),
                 .state = memory.state(),
                 .replicas = &options.of_step->replicas,
                 .chunks = static_cast<std::int64_t>(statistic_rules_.size())};
  for (const OptimizerGroup& group : groups_) group_blocks_.push_back(blocks_of(group));
  if (may_merge()) merged_ = merge_step(model);
  if (!merged_) return;
  group_blocks_[0].packed = {merged_->weights.data(), model.blocks().packed.bytes};
  group_blocks_[0].end = end_of_step();
  group_blocks_[0].finished = finished_.data();
}

bool OptimizerStep::may_merge() const {
  const bool one_pass = options_.alone && !weight_sums(model_.graph());
  const bool one_rule = groups_.size() == 1 && !groups_[0].norms && options_.clip_norm == 0;
  return model_.train().plan().target.can(Can::merge_launches) && one_pass && one_rule &&
         !model_.memory().averages();
}

void OptimizerStep::start_at(std::int64_t finished) {
  for (OptimizerGroup& group : groups_) {
    const double number = running_number(group.optimizer->rule, finished);
    group.running_number.write(model_.compute().queue, std::span(&number, 1));
  }
}

void OptimizerStep::finish_gradients() {
  const ModelMemory& memory = model_.memory();
  const double* weights = nullptr;
  if (const auto sum = weight_sums(model_.graph())) {
    weights = memory.results() + ResultRow::loss + 1 + *sum;
  }
  GradientFinish task{.unscale = scales_loss(),
                      .weights = weights,
                      .samples = options_.samples,
                      .sums = sums(),
                      .norm = memory.results() + ResultRow::gradient_norm,
                      .skipped = memory.results() + ResultRow::skipped,
                      .loss = memory.results() + ResultRow::loss,
                      .state = memory.state(),
                      .biased = biased_means_.data(),
                      .biased_count = static_cast<std::int64_t>(biased_means_.size()),
                      .replicas = &options_.of_step->replicas};
  if (merged_) {
    task.packed = {merged_->gradients.data(), merged_->gradient_bytes};
    task.results = merged_->results;
  }
  model_.compute().launches.finish_gradients(blocks_, task);
}

UpdateBlocks OptimizerStep::blocks_of(const OptimizerGroup& group) const {
  UpdateBlocks blocks = blocks_;
  blocks.spans = group.spans.data();
  blocks.span_count = static_cast<std::int64_t>(group.spans.size());
  blocks.chunks = group.chunks;
  blocks.clip = {model_.memory().results() + ResultRow::gradient_norm, options_.clip_norm};
  blocks.running_number = group.running_number.data();
  if (group.norms) blocks.norms = group.norms->view();
  if (group.matrices) blocks.matrices = group.matrices->view();
  return blocks;
}

void OptimizerStep::update() {
  StatisticBlocks statistics = statistics_;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Optimizer& optimizer = *groups_[i].optimizer;
    model_.compute().launches.update(group_blocks_[i], optimizer.rule, optimizer.time_decay,
                                     statistics);
    statistics.chunks = 0;
  }
}

void OptimizerStep::apply() {
  finish_gradients();
  update();
  if (merged_) return;
  model_.publish_weights(WeightChange::step, options_.next.window);
  model_.compute().launches.end(end_of_step());
}

EndUpdate OptimizerStep::end_of_step() const {
  const ModelMemory& memory = model_.memory();
  return {.state = memory.state(),
          .current = memory.results(),
          .rows = results_.rows,
          .width = results_.width,
          .capacity = results_.capacity,
          .scale = options_.loss_scale,
          .time_decay = time_decay_,
          .next = options_.next};
}

double OptimizerStep::regularisation_loss() {
  if (!has_l2_) return 0;
  const Compute& compute = model_.compute();
  compute.launches.regularisation_loss(blocks_, sums(), regularisation_.data());
  return regularisation_.read(compute.queue)[0];
}

}  // namespace trainyard
