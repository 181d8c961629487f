// The two programs of a training graph before any memory is allocated for them, their plans as
// text, and whether they fit into the memory of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "compute/executor.h"
#include "device/device.h"
#include "model/training_graph.h"
#include "optim/average.h"
#include "plan/model_memory.h"
#include "plan/program.h"

namespace trainyard {

/// The average of a model's weights, or the slow ones of Lookahead, which are never judged.
struct AverageOptions {
  AveragePolicy rule;
  bool judged = true;  // evaluation reads the average, not the trained weights
  bool looks_ahead = false;
  bool statistics = true;  // Lookahead pulls running statistics too
};

struct ModelOptions {
  Target target;
  int threads = 1;
  std::uint64_t seed = 0;
  int slots = 0;  // optimizer state blocks
  std::optional<AverageOptions> average = {};
  bool accumulates = false;  // more than one micro-batch per step
  std::int64_t shards = 1;   // shards of a micro-batch on this rank, each a batch: a power of two
  bool train = true;         // false: the evaluation program alone
  std::int64_t kept_outputs = 0;  // samples of the evaluated split whose outputs are kept; 0: none
  /// Over the replicas that train together, on the model's queue; null: one replica. Outlives the
  /// model.
  StatisticsSum* statistics_sum = nullptr;
};

/// Steps and tensors of both programs. They share graph, layouts and blocks.
struct ModelPlans {
  BlockLayout blocks;
  std::optional<Plan> train;
  Plan eval;
};

/// The plans of a graph on a target, not completed: the needs of executors are not known yet.
[[nodiscard]] ModelPlans make_plans(const TrainingGraph& graph, const Target& target, bool train);
/// The same without the target's device, completed with the most that its executors may need.
[[nodiscard]] ModelPlans make_plans_without_device(const TrainingGraph& graph,
                                                   const Target& target);

/// Both plans with their executors.
struct ModelPrograms {
  BlockLayout blocks;
  ModelMemory::Sizes sizes;
  std::unique_ptr<Program> train;  // null for evaluation only
  std::unique_ptr<Program> eval;

  [[nodiscard]] std::size_t transient_bytes() const;
};
/// `executors` must outlive the programs.
[[nodiscard]] ModelPrograms make_programs(const TrainingGraph& graph,
                                          const ExecutorFactory& executors,
                                          const ModelOptions& options);

/// The memory of a model of these programs or plans.
[[nodiscard]] MemoryForecast forecast(const ModelPrograms& programs);
[[nodiscard]] MemoryForecast forecast(const ModelPlans& plans, const TrainingGraph& graph,
                                      const ModelOptions& options);

/// Steps, tensors, offsets and memory of the training program, as its executors request them.
[[nodiscard]] std::string plan_text(const TrainingGraph& graph, const ExecutorFactory& executors,
                                    const ModelOptions& options);
/// The same for a target without its device, with the most that its executors may request.
[[nodiscard]] std::string plan_text_without_device(const TrainingGraph& graph,
                                                   const ModelOptions& options);

/// Throws Error{memory} if `device`, a CPU, has less free than `threads` threads and the libraries
/// take without any model.
void require_program_memory(const Device& device, std::int64_t threads);

/// Throws Error{memory} if the model of `programs` takes more than `device` has free, with the
/// forecast by kind and the largest batch that would fit. A device that does not know its free
/// memory is not checked.
void require_memory(const ModelPrograms& programs, const Device& device, const TrainingGraph& graph,
                    const ExecutorFactory& executors, const ModelOptions& options);

}  // namespace trainyard
