// The network's outputs for all samples of a split, collected on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/compute.h"
#include "plan/model_memory.h"
#include "tensor/layout.h"

namespace trainyard {

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
