// A network with its loss and metrics, planned and bound on one device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/feeder.h"
#include "device/device.h"
#include "exec/executor.h"
#include "graph/graph.h"
#include "kernels/launch.h"
#include "plan/program.h"

namespace trainyard {

/// A network's graph with the loss and the metrics attached behind it.
struct TrainingGraph {
  Graph graph;
  ValueId labels = -1;           // i32 [n]
  ValueId loss = -1;             // per sample, [n]
  std::vector<ValueId> metrics;  // per sample, [n] each
};

/// Appends labels, loss and metrics to `network`. Ops are shared with the graph's copies.
[[nodiscard]] TrainingGraph attach_loss(Graph network, std::shared_ptr<const Op> loss,
                                        std::span<const std::shared_ptr<const Op>> metrics);

struct ModelOptions {
  Target target;
  int threads = 1;
  std::uint64_t seed = 0;
  int slots = 0;             // optimizer state blocks
  bool accumulates = false;  // more than one micro-step an update
  bool train = true;         // false: the evaluation program alone
};

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
  /// `device` and `executors` must outlive the model.
  Model(const TrainingGraph& graph, Device& device, const ExecutorFactory& executors,
        const ModelOptions& options);

  [[nodiscard]] const TrainingGraph& graph() const { return graph_; }
  [[nodiscard]] const BlockLayout& blocks() const { return blocks_; }
  /// The graph that the plans hold: fused, with reorders; BlockEntry::node is an index into it.
  [[nodiscard]] const Graph& planned_graph() const { return planned_.graph; }
  [[nodiscard]] ModelMemory& memory() { return *memory_; }
  [[nodiscard]] const ModelMemory& memory() const { return *memory_; }
  [[nodiscard]] Program& train() { return *train_; }
  [[nodiscard]] const Program& train() const { return *train_; }
  [[nodiscard]] Program& eval() { return *eval_; }
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
  LaidOutGraph planned_;
  BlockLayout blocks_;
  CpuLauncher launcher_;
  std::unique_ptr<Program> train_;
  std::unique_ptr<Program> eval_;
  std::unique_ptr<ModelMemory> memory_;
  std::unique_ptr<DeviceBuffer> transient_;
};

}  // namespace trainyard
