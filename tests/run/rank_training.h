// A small network trained by several ranks together, which are threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "plan/target.h"
#include "run/model.h"
#include "run/update.h"
#include "small_training.h"

namespace trainyard::test {

/// What ranks train: SGD with momentum.
struct RankTraining {
  std::string network = kSmallNetwork;
  Target target;           // of the reference device, or that of processors with `onednn`
  bool onednn = false;     // its executors in one thread, else those of the reference device
  std::int64_t batch = 4;  // samples of a pass
  std::int64_t updates = 20;
  std::uint64_t seed = 11;  // of weights, order, augmentation and dropout
  UpdateOptions options{.clip_norm = 0.5};
  /// The samples as they are and in their order, without an evaluation; null: 150 learnable ones
  /// [3, 9, 7] of 4 classes, shuffled and augmented.
  const Dataset* set = nullptr;
};

/// What a rank ends with.
struct TrainedRank {
  std::vector<std::byte> weights, slots, running;  // as they lie in memory
  std::vector<UpdateResult> updates;
  Totals evaluation;  // of 37 other samples, by all ranks

  /// Rate, gradient norm, loss scale, loss and metrics of every update.
  [[nodiscard]] std::vector<double> numbers() const;
};

/// By rank. Throws what the first of them threw.
[[nodiscard]] std::vector<TrainedRank> train_on_ranks(int ranks, const RankTraining& training);

/// What is not the same, byte for byte: "weights, updates, evaluation"; empty: nothing.
[[nodiscard]] std::string differences(const TrainedRank& a, const TrainedRank& b);

}  // namespace trainyard::test
