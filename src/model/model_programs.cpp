#include "model/model_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compute/weight_packing.h"
#include "optim/step_functors.h"

namespace trainyard {

namespace {

PlanRequest request_of(const TrainingGraph& graph, bool train) {
  PlanRequest request{.train = train, .loss = graph.loss};
  for (const GraphMetric& metric : graph.metrics) {
    if (!is_of_split(metric)) request.kept.push_back(metric.output);
  }
  request.kept.push_back(graph.loss);
  if (graph.graph.output >= 0) request.kept.push_back(graph.graph.output);
  return request;
}

/// Bytes of a batch of plain float images; 0 if that is already the input.
std::size_t staging_bytes(const Plan& plan, const TrainingGraph& graph) {
  if (graph.images < 0) return 0;
  const TensorId id = plan.values[plan.laid_out.renamed[graph.images]];
  const PlanTensor& input = plan.tensors[id];
  const Layout plain = plain_layout(shape_of(input.layout));
  if (input.type == DType::f32 && same_memory(input.layout, plain)) return 0;
  return static_cast<std::size_t>(shape_of(input.layout).elements()) * sizeof(float);
}

std::int64_t outputs_of_sample(const Graph& graph) {
  if (graph.output < 0) return 0;
  const Shape& output = graph.values[graph.output].shape;
  return output.elements() / output.n();
}

ModelMemory::Sizes sizes_of(const Plan& plan, const TrainingGraph& graph,
                            const ModelOptions& options) {
  return {.type = plan.target.arithmetic(),
          .slots = options.slots,
          .averages = options.average.has_value(),
          .packs_average = options.average && options.average->judged,
          .input_bytes = plan.input_bytes,
          .staging_bytes = staging_bytes(plan, graph),
          .batch = graph.graph.values[graph.graph.inputs[0]].shape.n(),
          .accumulates = options.accumulates,
          .shards = options.shards,
          .results = ResultRow::loss + 1 + metric_sums(graph),
          .outputs = outputs_of_sample(graph.graph),
          .kept = options.kept_outputs};
}

std::vector<const Plan*> list_of(const ModelPlans& plans) {
  std::vector<const Plan*> list{&plans.eval};
  if (plans.train) list.push_back(&*plans.train);
  return list;
}

std::string advice(std::int64_t fits, std::int64_t batch) {
  if (fits == 0) return "not even a batch of 1 would fit: choose a smaller network or input";
  return fmt::format(
      "the largest batch that would fit is {}, not {}: lower 'batch', or raise 'accumulate' to "
      "keep the samples per step",
      fits, batch);
}

// Bytes of a thread's stack and of the libraries' own code and buffers, in addition to a model:
// measured on two threads as the smallest address space in which ResNet-20 trains, less its
// forecast. They fail without it, and do not always report that.
constexpr std::size_t kThreadBytes = std::size_t{8} << 20;
constexpr std::size_t kLibraryBytes = std::size_t{48} << 20;

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

}  // namespace

ModelPlans make_plans(const TrainingGraph& graph, const Target& target, bool train) {
  ModelPlans plans;
  plans.eval = plan_for(graph.graph, target, request_of(graph, false));
  if (train) plans.train = plan_for(graph.graph, target, request_of(graph, true));
  plans.blocks = lay_out_blocks(plans.eval.laid_out.graph);
  plans.blocks.packed = lay_out_packed(plans.blocks, list_of(plans));
  return plans;
}

ModelPlans make_plans_without_device(const TrainingGraph& graph, const Target& target) {
  ModelPlans plans = make_plans(graph, target, true);
  complete(plans.eval, largest_needs(plans.eval));
  complete(*plans.train, largest_needs(*plans.train));
  return plans;
}

std::size_t ModelPrograms::transient_bytes() const {
  const std::size_t train_bytes = train ? train->plan().transient_bytes : 0;
  return std::max(train_bytes, eval->plan().transient_bytes);
}

ModelPrograms make_programs(const TrainingGraph& graph, const ExecutorFactory& executors,
                            const ModelOptions& options) {
  const int replicas = options.statistics_sum == nullptr ? 1 : options.statistics_sum->replicas();
  Target target = options.target;
  target.packs_weights = weight_packing_of(executors) != nullptr;
  if (executors.queues() == nullptr) target.can.set(Can::use_side_queue, false);
  ModelPlans plans = make_plans(with_replicas(graph, replicas), target, options.train);
  ModelPrograms programs{.blocks = std::move(plans.blocks)};
  const auto make = [&](Plan&& plan) {
    return std::make_unique<Program>(std::move(plan), programs.blocks, executors, options.threads,
                                     options.statistics_sum);
  };
  if (plans.train) programs.train = make(std::move(*plans.train));
  programs.eval = make(std::move(plans.eval));
  programs.sizes = sizes_of(programs.eval->plan(), graph, options);
  return programs;
}

MemoryForecast forecast(const ModelPrograms& programs) {
  std::vector<const Plan*> plans{&programs.eval->plan()};
  if (programs.train) plans.push_back(&programs.train->plan());
  return forecast(programs.blocks, programs.sizes, plans);
}

MemoryForecast forecast(const ModelPlans& plans, const TrainingGraph& graph,
                        const ModelOptions& options) {
  return forecast(plans.blocks, sizes_of(plans.eval, graph, options), list_of(plans));
}

std::string plan_text(const TrainingGraph& graph, const ExecutorFactory& executors,
                      const ModelOptions& options) {
  const ModelPrograms programs = make_programs(graph, executors, options);
  return text_of(programs.train->plan()) + text_of(forecast(programs)) + "\n";
}

std::string plan_text_without_device(const TrainingGraph& graph, const ModelOptions& options) {
  const ModelPlans plans = make_plans_without_device(graph, options.target);
  return text_of(*plans.train) + text_of(forecast(plans, graph, options)) + "\n";
}

void require_program_memory(const Device& device, std::int64_t threads) {
  const std::size_t free = device.free_bytes();
  const std::size_t needed = kLibraryBytes + static_cast<std::size_t>(threads) * kThreadBytes;
  if (free == 0 || needed <= free) return;
  throw memory_error(fmt::format(
      "out of memory: training on {} threads takes {:.0f} MiB besides the model, but {:.1f} MiB "
      "are free, limited by {}; raise that limit, or use fewer 'threads' and 'data.workers'",
      threads, mebibytes(needed), mebibytes(free), device.memory_bound()));
}

void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options) {
  const std::size_t free = device.free_bytes();
  const std::size_t needed =
      ModelMemory::offsets_of(programs.blocks, programs.sizes).bytes + programs.transient_bytes();
  if (free == 0 || needed <= free) return;
  const std::int64_t batch = programs.sizes.batch;
  const std::int64_t fits = largest_batch(free, batch - 1, [&](std::int64_t smaller) {
    return forecast(make_programs(with_batch(graph, smaller), executors, options)).total();
  });
  throw memory_error(fmt::format("out of memory on {}: {:.1f} MiB are free, limited by {}; {}; {}",
                                 device.name(), mebibytes(free), device.memory_bound(),
                                 text_of(forecast(programs)), advice(fits, batch)));
}

}  // namespace trainyard
