// What a program's batches give, collected on the device: sums of losses and metrics, outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/compute.h"
#include "model/training_graph.h"
#include "plan/program.h"
#include "tensor/layout.h"

namespace trainyard {

/// One launch (for every ResultTable::kMost of them) adds all sums of a batch: the loss, the
/// metrics in the order of the graph, and, with weights of samples, the sum of these and the number
/// of those that are not 0.
class BatchResults {
 public:
  /// Of a program that is bound. Everything must outlive it.
  BatchResults(const Compute& compute, const TrainingGraph& graph, const ModelMemory& memory,
               const Program& program);

  /// All sums as one functor, if one launch has room for them.
  [[nodiscard]] std::optional<ResultSums> in_one() const;
  /// Enqueues adding the sums of the batch that the program has just run to the memory's results.
  void add() const;

 private:
  void append(const ResultValues& values);

  const Compute& compute_;
  std::vector<ResultTable> tables_;
  ResultTable common_;  // of no values
  double* totals_;
};

/// Collects the outputs of evaluated batches by the samples' indices, so that predictions, tables
/// per class and the like are arithmetic on the host. Its memory is ModelMemory's.
class OutputRows {
 public:
  /// `output` is the network's output [n, width] or [n] in the evaluation program, of any layout
  /// and type; memory was made for `samples` of them. All must outlive it.
  OutputRows(const Compute& compute, ModelMemory& memory, const TensorView& output,
             std::int64_t samples, int threads);
  /// Enqueues storing the valid rows of the batch that was evaluated last.
  void store();
  /// Waits for the rows of all batches since the last call, [samples, width]; zeros for samples
  /// that were not evaluated.
  [[nodiscard]] std::vector<float> take();

 private:
  const Compute& compute_;
  ModelMemory& memory_;
  TensorView plain_;                   // the batch's outputs, in the arithmetic type
  std::unique_ptr<Executor> reorder_;  // writes them
  std::int64_t samples_, width_;
};

}  // namespace trainyard
