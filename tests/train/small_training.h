// A small network from YAML text, trained for a few steps on any plan and executors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compute/executor.h"
#include "config/node.h"
#include "model/model.h"
#include "ranks/comm/communicator.h"
#include "train/train_step.h"

namespace trainyard::test {

/// The network of `yaml` with softmax cross-entropy, binary for a single output, and accuracy
/// attached.
[[nodiscard]] TrainingGraph training_graph(const std::string& yaml, std::int64_t batch);
/// The same for a network that has already been read.
[[nodiscard]] TrainingGraph training_graph(const config::Node& network, std::int64_t batch);
/// The same with more cross-entropies, of these keys, and perhaps with weights of samples, and
/// mixed.
[[nodiscard]] TrainingGraph training_graph(const config::Node& network, std::int64_t batch,
                                           const std::vector<std::string>& heads, bool weighted,
                                           bool mixed = false);

/// An optimizer by its name and keys in YAML: "sgd", "{lr: 0.1, momentum: 0.9}".
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(const std::string& name,
                                                        const std::string& keys);

/// One op of each kind that has state or random draws, for tests of code around a network.
inline constexpr const char* kSmallNetwork = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 6, kernel: 3, l2: 1e-3}
  - bn
  - relu
  - dropout: 0.25
  - max_pool: 2
  - dense: 4
  - softmax
)";

/// The target's plan with everything stored in double, for the reference device.
[[nodiscard]] inline Target in_double(Target target) {
  target.storage = DType::f64;
  return target;
}

struct Trained {
  std::vector<double> losses;  // mean of the batch, per step
  std::vector<bool> finite;    // false: the step was withheld
  std::vector<bool> skipped;
  std::vector<double> loss_scale;
  std::vector<double> weights;     // all, in the order of the blocks, after the last step
  std::vector<double> running;     // statistics, in the same order
  Totals evaluation;               // result of another batch, with the last weights
  std::vector<std::int64_t> left;  // steps pending after each take_oldest()
};

/// Ten steps of SGD with momentum on noise, the same for every target and executors. `jitter`, if
/// given, changes the images of each batch before it is loaded.
using Jitter = std::function<void(std::vector<float>& images)>;
[[nodiscard]] Trained train_ten_steps(const TrainingGraph& graph, const Target& target,
                                      const ExecutorFactory& executors,
                                      const Jitter& jitter = nullptr);
/// The same on any device.
[[nodiscard]] Trained train_ten_steps(const TrainingGraph& graph, const Target& target,
                                      const Compute& compute, const StepOptions& options = {},
                                      const Jitter& jitter = nullptr);

/// The duration and the group of a replica's training.
struct Course {
  std::int64_t steps = 10;
  double rate =
      0.002;  // rate of SGD with momentum; small: rounding must not grow from step to step
  std::uint64_t seed = 5;                // seed of the weights
  Communicator* communicator = nullptr;  // null: alone. Each replica takes its part of a batch
};
/// Trains one replica on any device; `graph` has its part of the batch. The losses are its own.
[[nodiscard]] Trained train_replica(const TrainingGraph& graph, const Target& target,
                                    const Compute& compute, const Course& course);

/// Largest absolute difference; infinite if the sizes differ or a value is NaN.
[[nodiscard]] double largest_difference(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace trainyard::test
