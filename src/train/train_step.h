// A training step, by its parts: load, forward, backward, reduce, update, report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device/device.h"
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
  ParameterOverrides parameters;            // see OptimizerStepOptions
  std::optional<Lookahead> lookahead = {};  // of a model with AverageOptions::looks_ahead
  DType transport = DType::f32;             // see ReducerOptions, also buckets
  std::optional<BucketBytes> buckets = {};
};

/// Position in a sequence of steps.
struct StepPosition {
  std::int64_t tried = 0;     // steps begun
  std::int64_t finished = 0;  // steps that were not skipped
  double loss_scale = 1;
  std::int64_t good_steps = 0;  // since the loss scale last changed
};

/// Trains a model on this rank. A step has passes() passes (micro-batches, or with shards parts of
/// them), each with a batch of its own:
///
///   load      copies the next batch to the device
///   forward   from the batch to its losses
///   backward  to the gradients of the parameters
///   reduce    sums gradients and results over passes and ranks
///   update    after the last pass: from the gradients to new weights
///   report    counts the step, whose row of results is on its way to the host
///
/// load() and report() are the host's. The others enqueue the same work in every step, so a pass is
/// recorded as one and replayed, once for each staging slot of a batch. If all-reduces need the
/// host (Communicator::recordable()), what is before and after them is recorded; if the network
/// itself contains such all-reduces (batch norms with `sync`), nothing is. Every rank takes the
/// same steps and gets the same results.
class TrainStep {
 public:
  using NextBatch = std::function<const Batch&()>;
  /// Gets what is not finite after a pass, if anything.
  using Judge = std::function<void(const std::optional<NonFinite>&)>;

  /// All references must outlive it. `schedule` may be null: the optimizer's rate for every step.
  TrainStep(Model& model, Communicator& communicator, const Optimizer& optimizer,
            const Schedule* schedule, const ScheduleContext& context, const StepOptions& options);
  TrainStep(const TrainStep&) = delete;
  TrainStep& operator=(const TrainStep&) = delete;

  /// One step, with a batch of `next` for each pass; without it with the batch that is loaded.
  void run(const NextBatch& next = nullptr);
  /// The same, each pass by check() (--eager); `judge` throws to end the step before its update.
  void run_checked(const NextBatch& next, const Judge& judge);
  /// The same, whose one pass, of the loaded batch, is enqueued by `pass`.
  void run_by(const std::function<void()>& pass);

  // The parts of a step.
  /// Ensures that the device has the step's learning rate, as the host's first part. Each update
  /// begins the next step there, as far as it knows the rates.
  void prepare();
  void load(const NextBatch& next);
  void forward();
  /// Buckets of gradients are reduced meanwhile, where the device can do both.
  void backward();
  void reduce(std::int64_t pass);
  void update();
  void report();

  /// All that is enqueued in a pass: forward() to reduce(), and after the last one update().
  void enqueue(std::int64_t pass);
  /// Forward and backward, op by op up to the first tensor that is not finite.
  [[nodiscard]] std::optional<NonFinite> check();
  /// Records the passes again, as they are enqueued from now on.
  void record_again();
  /// Number of launches in a replay of the passes (Recording::nodes()).
  [[nodiscard]] std::size_t launches() const;

  /// Continues from `position`.
  void start_at(const StepPosition& position);
  /// Waits for the steps so far.
  [[nodiscard]] StepPosition position() const;
  /// Multiplies the learning rates of the following steps, see plateau_rate().
  void follow(const PlateauState& plateau, double min_rate) { rates_.follow(plateau, min_rate); }
  /// The learning rate of the step before, without the optimizer's own decay.
  [[nodiscard]] double last_rate() const { return rates_.rate_of(tried_ - 1); }

  [[nodiscard]] Model& model() { return model_; }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] std::int64_t passes() const { return reducer_.passes(); }
  /// Samples of a step, on all ranks.
  [[nodiscard]] std::int64_t samples() const { return reducer_.samples(); }
  /// Also sums `part` over the ranks, see RankSum.
  void sum_with_results(const SumPart& part) { reducer_.sum_with_results(part); }
  [[nodiscard]] OptimizerStep& optimizer_step() { return optimizer_step_; }
  [[nodiscard]] const OptimizerStep& optimizer_step() const { return optimizer_step_; }
  [[nodiscard]] const GradientReducer& reducer() const { return reducer_; }
  [[nodiscard]] ResultRing& results() { return results_; }

 private:
  /// What of a pass is recorded.
  enum class Recorded { whole, around_sums, nothing };

  [[nodiscard]] Recorded recorded() const;
  [[nodiscard]] RepeatedWork repeated(std::function<void()> work);
  [[nodiscard]] BeginUpdate begin() const;
  void run_pass(std::int64_t pass);
  [[nodiscard]] bool is_last(std::int64_t pass) const { return pass == passes() - 1; }

  Model& model_;
  Communicator& communicator_;
  std::int64_t tried_ = 0;  // as in StepState
  LearningRateWindow rates_;
  GradientReducer reducer_;
  ResultRing results_;
  OptimizerStep optimizer_step_;
  Recorded recorded_;
  // One for each whole pass; around sums: forward and backward of any pass, and the update.
  std::vector<RepeatedWork> recordings_;
};

}  // namespace trainyard
