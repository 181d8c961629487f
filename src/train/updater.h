// The rest of a step after its passes: gradient reduction, optimizer step, results.
#pragma once

#include <cstdint>

#include "train/gradient_reducer.h"
#include "train/learning_rate_window.h"
#include "train/optimizer_step.h"
#include "train/result_ring.h"

namespace trainyard {

struct StepOptions {
  double clip_norm = 0;         // see OptimizerStepOptions
  std::int64_t accumulate = 1;  // see ReducerOptions, also shards
  std::int64_t shards = 0;
  std::int64_t results = 1;  // see ResultRing
  LossScale loss_scale;
  ParameterRules parameters;     // see OptimizerStepOptions
  DType transport = DType::f32;  // see ReducerOptions, also buckets
  std::optional<BucketBytes> buckets = {};
};

/// Position in a sequence of steps.
struct StepPosition {
  std::int64_t tried = 0;     // steps begun
  std::int64_t finished = 0;  // those that were not skipped
  double loss_scale = 1;
  std::int64_t good_steps = 0;  // since the loss scale last changed
};

/// Updates a model's weights from the gradients of this rank's passes. A step is prepare(), then
/// for each pass add_results(), the calls of reducer() and end_pass(), and finish(). prepare() and
/// finish() are the host's part; the others enqueue the same work in every step, so that it can be
/// recorded. Every rank takes the same steps and gets the same results.
class Updater {
 public:
  /// All references must outlive the updater.
  Updater(Model& model, Communicator& communicator, const Optimizer& optimizer,
          const Schedule* schedule, const ScheduleContext& context, const StepOptions& options);

  /// Continues from `position`.
  void start_at(const StepPosition& position);
  /// Waits for the steps so far.
  [[nodiscard]] StepPosition position() const;

  [[nodiscard]] GradientReducer& reducer() { return reducer_; }
  [[nodiscard]] const GradientReducer& reducer() const { return reducer_; }
  [[nodiscard]] OptimizerStep& optimizer_step() { return optimizer_step_; }
  [[nodiscard]] const OptimizerStep& optimizer_step() const { return optimizer_step_; }
  [[nodiscard]] ResultRing& results() { return results_; }

  /// Multiplies the learning rates of the following steps, see plateau_rate().
  void follow(const PlateauState& plateau, double min_rate) { rates_.follow(plateau, min_rate); }
  /// The learning rate of the step before, without the optimizer's own decay.
  [[nodiscard]] double last_rate() const { return rates_.rate_of(tried_ - 1); }
  /// Ensures that the device has the step's learning rate. Each step's end begins the next one
  /// there, as far as it knows the rates.
  void prepare();
  /// Adds the losses and metrics of the pass, unless apply() does.
  void add_results();
  /// Ends pass `index`; the last one applies the step.
  void end_pass(std::int64_t index);
  /// Applies a step whose gradients are summed.
  void apply();
  /// Counts the step, whose samples the model has loaded.
  void finish();

 private:
  [[nodiscard]] BeginUpdate begin() const;

  Model& model_;
  Communicator& communicator_;
  std::int64_t tried_ = 0;  // as in StepState
  LearningRateWindow rates_;
  GradientReducer reducer_;
  ResultRing results_;
  OptimizerStep optimizer_step_;
};

}  // namespace trainyard
