#include "run/update.h"

#include "optim/accumulate.h"
#include "optim/gradient.h"

namespace trainyard {
namespace {

/// One value a chunk for a block whose entries cover `elements`.
std::int64_t chunks_of(std::int64_t elements) { return (elements + kChunk - 1) / kChunk; }

template <class T>
void update_running(const CpuLauncher& launcher, const ModelMemory& memory,
                    std::int64_t parameter_elements, std::span<const StatisticRule> rules,
                    double batches) {
  const UpdateRunning<T> update{
      .running = reinterpret_cast<T*>(memory.running()),
      .batch = reinterpret_cast<const T*>(memory.gradient_sum()) + parameter_elements,
      .rules = rules.data(),
      .replicas = batches};
  launcher.each(static_cast<std::int64_t>(rules.size()), update);
}

template <class T>
void add_gradients(const CpuLauncher& launcher, const ModelMemory& memory, std::int64_t elements,
                   bool first) {
  const AddGradients<T> add{.sum = reinterpret_cast<T*>(memory.gradient_sum()),
                            .gradients = reinterpret_cast<const T*>(memory.gradients()),
                            .first = first};
  launcher.each(elements, add);
}

}  // namespace

Updater::Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
                 const Schedule* schedule, const ScheduleContext& context,
                 const UpdateOptions& options)
    : model_(model),
      communicator_(communicator),
      optimizer_(optimizer),
      schedule_(schedule),
      context_(context),
      options_(options) {
  make_segments(optimizer);
  make_statistic_rules();
  const ModelMemory& memory = model.memory();
  blocks_ = {.type = memory.type(),
             .weights = memory.weights(),
             .gradients = memory.gradient_sum(),
             .segments = segments_.data(),
             .segment_of_chunk = segment_of_chunk_.data(),
             .chunks = static_cast<std::int64_t>(segment_of_chunk_.size()),
             .state = memory.state()};
  scratch_.resize(static_cast<std::size_t>(sum_scratch(blocks_.chunks)));
  for (int slot = 0; slot < memory.slots(); ++slot) blocks_.slots.push_back(memory.slot(slot));
}

void Updater::make_segments(const Optimizer& optimizer) {
  const BlockLayout& layout = model_.blocks();
  for (const BlockEntry& entry : layout.parameters) {
    const Node& node = model_.planned_graph().nodes[entry.node];
    const ParameterSpec& spec = node.signature.parameters[entry.index];
    segment_of_chunk_.insert(segment_of_chunk_.end(),
                             static_cast<std::size_t>(chunks_of(entry.shape.elements())),
                             static_cast<std::int32_t>(segments_.size()));
    segments_.push_back({.rate_multiplier = node.rate_multiplier,
                         .l2 = spec.l2,
                         .decay = optimizer.decay(spec.group),
                         .frozen = node.frozen ? 1 : 0});
  }
  has_l2_ = has_l2(segments_);
}

void Updater::make_statistic_rules() {
  for (const BlockEntry& entry : model_.blocks().statistics) {
    const StatisticSpec& spec =
        model_.planned_graph().nodes[entry.node].signature.statistics[entry.index];
    statistic_rules_.insert(statistic_rules_.end(),
                            static_cast<std::size_t>(chunks_of(entry.shape.elements())),
                            {.momentum = spec.momentum, .batch_scale = spec.batch_scale});
  }
}

void Updater::begin() {
  StepState& state = *model_.memory().state();
  state.rate = schedule_ != nullptr ? schedule_->rate(state.step, context_) : context_.base;
  const std::int64_t global_batch =
      model_.memory().batch() * communicator_.size() * options_.accumulate;
  state.gradient_scale = 1.0 / static_cast<double>(global_batch);
}

void Updater::accumulate(std::int64_t index) {
  if (options_.accumulate == 1) return;  // the sum is the gradient block itself
  const ModelMemory& memory = model_.memory();
  const std::int64_t elements = model_.blocks().gradient_elements();
  if (memory.type() == DType::f64) {
    add_gradients<double>(model_.launcher(), memory, elements, index == 0);
  } else {
    add_gradients<float>(model_.launcher(), memory, elements, index == 0);
  }
}

void Updater::update_statistics() {
  const ModelMemory& memory = model_.memory();
  const double batches = static_cast<double>(communicator_.size() * options_.accumulate);
  const std::int64_t tail = model_.blocks().parameter_elements;
  if (memory.type() == DType::f64) {
    update_running<double>(model_.launcher(), memory, tail, statistic_rules_, batches);
  } else {
    update_running<float>(model_.launcher(), memory, tail, statistic_rules_, batches);
  }
}

UpdateResult Updater::apply() {
  const ModelMemory& memory = model_.memory();
  communicator_.all_reduce_sum(memory.gradient_sum(), model_.blocks().gradient_elements(),
                               memory.type());
  StepState& state = *memory.state();
  if (has_l2_) add_l2(model_.launcher(), blocks_);
  UpdateResult result{.rate = state.rate};
  gradient_norm(model_.launcher(), blocks_, scratch_, &result.gradient_norm);
  note_nonfinite(model_.launcher(), &state, &result.gradient_norm);
  result.finite = state.nonfinite_step < 0;
  if (!result.finite) return result;
  if (options_.clip_norm > 0) {
    clip_gradients(model_.launcher(), blocks_, &result.gradient_norm, options_.clip_norm);
  }
  update_statistics();
  optimizer_.update(model_.launcher(), blocks_);
  ++state.step;
  return result;
}

double Updater::regularisation_loss() {
  return has_l2_ ? trainyard::regularisation_loss(model_.launcher(), blocks_, scratch_) : 0.0;
}

}  // namespace trainyard
