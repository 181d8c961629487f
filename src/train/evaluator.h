// Exact evaluation of a whole split.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "data/feed/feeder.h"
#include "device/device.h"
#include "model/model.h"
#include "ranks/comm/communicator.h"

namespace trainyard {

/// Runs the evaluation program over every sample of a feeder's set, again and again; padding in the
/// last batch is excluded from the sums. The host waits for the device once an evaluation, at its
/// end.
class Evaluator {
 public:
  /// All ranks together, each with its own feeder: rank b mod ranks evaluates batch b, or a batch
  /// of padding if none is left. `hosts` is a host-memory communicator; `split` is what `feeder`
  /// feeds. All must outlive it. Throws Error{memory}.
  Evaluator(Model& model, Feeder& feeder, Communicator& hosts,
            EvaluatedSplit split = EvaluatedSplit::validation);

  /// The sums of the batches, added in order, so that they are bit-identical on every rank, and to
  /// a single rank's. `before_batch` is called before each batch of this rank.
  [[nodiscard]] Totals run(const std::function<void()>& before_batch = [] {});

 private:
  [[nodiscard]] bool alone() const { return hosts_.size() == 1; }
  void run_batch();
  /// Totals of the batches of all ranks.
  [[nodiscard]] Totals total_of_rows();

  Model& model_;
  Feeder& feeder_;
  Communicator& hosts_;
  EvaluatedSplit split_;
  // With several ranks: the results of each of this rank's batches, and their samples.
  DeviceArray<double> rows_;  // [batches][ModelMemory::Sizes::results]
  std::vector<std::int64_t> samples_;
};

/// The network's outputs of an evaluation by all ranks, [samples, width], on every rank; see
/// OutputRows, which the model must have.
[[nodiscard]] std::vector<float> take_outputs(Model& model, Communicator& hosts);

}  // namespace trainyard
