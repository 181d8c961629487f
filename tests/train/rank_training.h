// A small network trained jointly by several ranks, which are threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/augment/mixing.h"
#include "data/feed/batch_fields.h"
#include "data/sets/dataset.h"
#include "model/compute.h"
#include "model/model.h"
#include "plan/target.h"
#include "ranks/comm/communicator.h"
#include "small_training.h"
#include "train/train_step.h"

namespace trainyard::test {

/// The device of a rank.
class RankDevice {
 public:
  virtual ~RankDevice() = default;
  [[nodiscard]] virtual Compute compute() = 0;
  /// The ranks, for all-reduces of memory of this device.
  [[nodiscard]] virtual Communicator& ranks() = 0;
};
/// Makes the device of a rank, from executors and ranks on the host that outlive it.
using MakeRankDevice =
    std::function<std::unique_ptr<RankDevice>(const ExecutorFactory&, Communicator&)>;
[[nodiscard]] std::unique_ptr<RankDevice> make_processor(const ExecutorFactory& executors,
                                                         Communicator& ranks);

/// The training of the ranks.
struct RankTraining {
  std::string network = kSmallNetwork;
  Target target;           // target of the reference device, or of the CPU with `onednn`
  bool onednn = false;     // its executors in one thread, else those of the reference device
  std::int64_t batch = 4;  // samples per pass
  std::int64_t updates = 20;
  std::uint64_t seed = 11;  // seed of weights, order, augmentation and dropout
  StepOptions options{.clip_norm = 0.5};
  /// The samples unchanged and in their order, without an evaluation; null: 150 learnable ones
  /// [3, 9, 7] of 4 classes, shuffled and augmented.
  const Dataset* set = nullptr;
  MakeRankDevice device = make_processor;
  std::string frozen = {};  // path of a frozen layer, or ""
  const char* optimizer = "sgd";
  const char* optimizer_keys = "{lr: 0.02, momentum: 0.9}";
  std::optional<AverageOptions> average = {};
  std::optional<ClassWeightPolicy> weights = {};
  std::optional<MixOptions> mix = {};   // mixing of pairs of samples; needs an even batch
  std::vector<std::string> heads = {};  // keys of cross-entropies besides that of the last layer
};

/// The result of a rank.
struct TrainedRank {
  std::vector<std::byte> weights, slots, running;  // as in memory
  std::vector<std::byte> averaged;  // weights and running statistics, if training averages them
  std::vector<StepResult> updates;
  Totals evaluation;  // result of 37 other samples, by all ranks

  /// Learning rate, gradient norm, loss scale, loss and metrics of every step.
  [[nodiscard]] std::vector<double> numbers() const;
};

/// By rank. Throws the error of the first rank that threw.
[[nodiscard]] std::vector<TrainedRank> train_on_ranks(int ranks, const RankTraining& training);

/// What differs, byte for byte: "weights, updates, evaluation"; empty: nothing.
[[nodiscard]] std::string differences(const TrainedRank& a, const TrainedRank& b);

}  // namespace trainyard::test
