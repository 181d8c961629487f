// The losses and metrics of a program's batch, summed on the device.
#pragma once

#include <optional>
#include <vector>

#include "model/compute.h"
#include "model/training_graph.h"
#include "plan/program.h"

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

}  // namespace trainyard
