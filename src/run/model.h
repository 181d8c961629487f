// A network with its loss and metrics, planned and bound on one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "data/feeder.h"
#include "device/device.h"
#include "exec/executor.h"
#include "kernels/launch.h"
#include "ops/walk.h"
#include "run/model_programs.h"

namespace trainyard {

/// Sums over the true samples of batches, in double, batch after batch.
struct Totals {
  double loss = 0;
  std::vector<double> metrics;
  std::int64_t samples = 0;

  /// Back to zero; keeps the memory.
  void clear() {
    loss = 0;
    std::fill(metrics.begin(), metrics.end(), 0.0);
    samples = 0;
  }
};

/// Two programs (training, evaluation) over one persistent arena.
class Model {
 public:
  /// `device` and `executors` must outlive the model. Throws Error{memory} if it does not fit.
  Model(const TrainingGraph& graph, Device& device, const ExecutorFactory& executors,
        const ModelOptions& options);

  [[nodiscard]] const TrainingGraph& graph() const { return graph_; }
  [[nodiscard]] const ModelPrograms& programs() const { return programs_; }
  [[nodiscard]] const BlockLayout& blocks() const { return programs_.blocks; }
  /// The graph that the plans hold: fused, with reorders; BlockEntry::node is an index into it.
  [[nodiscard]] const Graph& planned_graph() const { return eval().plan().laid_out.graph; }
  [[nodiscard]] ModelMemory& memory() { return *memory_; }
  [[nodiscard]] const ModelMemory& memory() const { return *memory_; }
  [[nodiscard]] Program& train() { return *programs_.train; }
  [[nodiscard]] const Program& train() const { return *programs_.train; }
  [[nodiscard]] Program& eval() { return *programs_.eval; }
  [[nodiscard]] const Program& eval() const { return *programs_.eval; }
  [[nodiscard]] const CpuLauncher& launcher() const { return launcher_; }
  [[nodiscard]] std::size_t transient_bytes() const { return transient_->bytes(); }

  /// Fills weights and running statistics as their initializers say; a weight depends on the seed
  /// and its own name alone.
  void initialize(std::uint64_t seed);
  /// Copies a batch into the inputs.
  void load(const Batch& batch);
  /// Adds the batch that `program` has just run to `totals`.
  void add_totals(const Program& program, Totals& totals) const;

 private:
  [[nodiscard]] double sum_of_valid(const TensorView& values) const;

  TrainingGraph graph_;
  CpuLauncher launcher_;
  ModelPrograms programs_;
  Walk input_walk_;  // from the images of a batch to the network's input
  std::unique_ptr<ModelMemory> memory_;
  std::unique_ptr<DeviceBuffer> transient_;
};

}  // namespace trainyard
