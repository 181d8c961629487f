// A model with its training step on one synthetic batch, for measuring and counting steps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/peaks.h"
#include "model/model.h"
#include "ranks/comm/communicator.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"
#include "train/train_step.h"

namespace trainyard {

/// What a runner needs of a device; all of it outlives the runner.
struct RunnerDevice {
  Compute compute;
  Target target;
  int threads = 1;
  std::int64_t results_kept = 1;  // StepOptions::results
};
[[nodiscard]] inline RunnerDevice runner_device(const SessionDevice& device) {
  return {device.compute(), device.target, device.threads, device.results_kept};
}

/// A part of a step, which enqueues its work on one queue.
struct StepPart {
  std::string name;
  Queue* queue = nullptr;
  std::function<void()> work;
};

class StepRunner {
 public:
  /// `graph` is that of a pass, of which a step runs `shards`. The run outlives it.
  StepRunner(const RunConfig& run, TrainingGraph graph, std::int64_t shards,
             const RunnerDevice& device);

  /// A step, in an epoch of its own for dropout: with the same mask in all steps the network
  /// memorises the batch, and its gradients become denormal numbers, which CPUs process slowly.
  void step();
  /// The same by what replays the work of enqueue().
  void step_by(const std::function<void()>& replay);
  /// Only what follows the backward pass.
  void update();
  /// The work of a step of one pass as it is recorded: what step() enqueues.
  void enqueue() { step_.enqueue(0); }
  /// The work on a GPU in parts: the batch, the steps of the plan, the update. They refer to the
  /// runner.
  [[nodiscard]] std::vector<StepPart> parts();
  void wait() { device_.compute.queue.wait(); }
  /// Mean loss of the last step.
  [[nodiscard]] double loss() const {
    return totals_.loss / static_cast<double>(model_.memory().batch());
  }
  /// The counts of a step; after the second one, when it has been recorded.
  [[nodiscard]] StepCounts counts() const;
  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] const Graph& graph() const { return graph_.graph; }

 private:
  void take_results();

  RunnerDevice device_;
  std::unique_ptr<Communicator> communicator_;
  TrainingGraph graph_;
  Model model_;
  TrainStep step_;
  std::int64_t epoch_ = 0;
  Totals totals_;
};

}  // namespace trainyard
