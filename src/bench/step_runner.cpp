#include "bench/step_runner.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "base/philox.h"
#include "graph/graph.h"
#include "plan/work.h"
#include "run/config/parameter_overrides.h"
#include "run/session/session_model.h"

namespace trainyard {
namespace {

/// One prepared batch of uniform noise in [-2, 2), or of random tokens, with random labels; numbers
/// of other fields are 1.
class SyntheticBatch {
 public:
  SyntheticBatch(const TrainingGraph& graph, std::int64_t classes)
      : index_(static_cast<std::size_t>(graph.graph.values[graph.graph.inputs[0]].shape.n())) {
    if (graph.images >= 0) draw_images(graph.graph.values[graph.images].shape);
    std::iota(index_.begin(), index_.end(), std::int64_t{0});
    for (const GraphField& field : graph.fields) {
      add_field(graph.graph.values[field.value], below(graph.graph, field.value, classes));
      if (field.value == graph.graph.mask) std::ranges::fill(classes_.back(), 1);
    }
  }
  [[nodiscard]] Batch view() const {
    return {.images = images_,
            .fields = {fields_.begin(), fields_.end()},
            .sample_index = index_,
            .valid = static_cast<std::int64_t>(index_.size())};
  }

 private:
  /// Fields of whole numbers are of tokens, or of classes.
  static std::int64_t below(const Graph& network, ValueId field, std::int64_t classes) {
    return network.vocabulary > 0 && field == network.inputs[0] ? network.vocabulary : classes;
  }
  void draw_images(const Shape& shape) {
    images_.resize(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, 0, i);
      images_[i] = 4 * uniform01(draw.word[0]) - 2;
    }
  }
  /// Whole numbers are drawn below `below`.
  void add_field(const Value& value, std::int64_t below) {
    const std::size_t count = static_cast<std::size_t>(value.shape.elements());
    if (value.type != DType::i32) {
      fields_.push_back(std::as_bytes(std::span(numbers_.emplace_back(count, 1.0F))));
      return;
    }
    std::vector<std::int32_t>& drawn = classes_.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) {
      const Random4 draw = random4(1, RandomStream::synthetic, 0, classes_.size(), i);
      drawn[i] = static_cast<std::int32_t>(draw.word[0] % static_cast<std::uint32_t>(below));
    }
    fields_.push_back(std::as_bytes(std::span(drawn)));
  }

  std::vector<float> images_;
  std::vector<std::int64_t> index_;
  std::vector<std::vector<std::int32_t>> classes_;
  std::vector<std::vector<float>> numbers_;
  std::vector<std::span<const std::byte>> fields_;
};

/// The rules of the run's parameters, in an epoch that does not end.
ParameterOverrides rules_of(const RunConfig& run, const Graph& network) {
  constexpr std::int64_t kSteps = 1 << 30;
  config::Diagnostics diagnostics;  // the rules were checked with the network
  return parameter_overrides(run, network, kSteps, diagnostics);
}

}  // namespace

StepRunner::StepRunner(const RunConfig& run, TrainingGraph graph, std::int64_t shards,
                       const RunnerDevice& device)
    : device_(device),
      communicator_(make_single_communicator()),
      graph_(std::move(graph)),
      model_(graph_, device_.compute,
             {.target = device_.target,
              .threads = device_.threads,
              .seed = static_cast<std::uint64_t>(run.seed),
              .slots = state_blocks(run),
              .average = average_options(run),
              .shards = shards}),
      step_(model_, *communicator_, *run.optimizer, nullptr, {.base = run.optimizer->rate},
            {.clip_norm = run.clip_norm,
             .shards = shards > 1 ? shards : 0,
             .results = device_.results_kept,
             .parameters = rules_of(run, graph_.graph)}) {
  const Shape output = graph_.graph.values[graph_.graph.output].shape;
  const SyntheticBatch batch(graph_, std::max<std::int64_t>(output.c(), 2));
  model_.initialize(static_cast<std::uint64_t>(run.seed));
  model_.load(batch.view());
}

void StepRunner::step() {
  model_.set_epoch(++epoch_);
  step_.run();
  take_results();
}

void StepRunner::step_by(const std::function<void()>& replay) {
  model_.set_epoch(++epoch_);
  step_.run_by(replay);
  take_results();
}

void StepRunner::update() {
  step_.run_by([this] { step_.update(); });
  take_results();
}

std::vector<StepPart> StepRunner::parts() {
  Queue* const queue = &device_.compute.queue;
  Program& program = model_.train();
  std::vector<StepPart> parts{
      {"begin", queue, [this] { model_.take_batch(EvaluatedSplit::training); }}};
  for (std::size_t index = 0; index < program.plan().steps.size(); ++index) {
    if (!program.runs(index)) continue;
    std::string name = name_of(program.plan(), program.plan().steps[index]);
    if (program.done_by_sibling(index)) {
      parts.back().name += ", " + name;
      continue;
    }
    parts.push_back(
        {std::move(name), program.queue_of(index), [&program, index] { program.run_step(index); }});
  }
  parts.push_back({"update", queue, [this] {
                     step_.reduce(0);
                     step_.update();
                   }});
  return parts;
}

StepCounts StepRunner::counts() const {
  const Plan& plan = model_.train().plan();
  const ModelMemory& memory = model_.memory();
  const std::size_t bytes =
      bytes_moved(plan) + update_bytes(model_.blocks(), memory.type(), memory.slots());
  return {.gflop = 1e-9 * flop_of(plan),
          .gigabytes = 1e-9 * static_cast<double>(bytes),
          .launches = step_.launches()};
}

void StepRunner::take_results() {
  if (step_.results().full()) totals_ = step_.results().take_oldest().back().totals;
}

}  // namespace trainyard
