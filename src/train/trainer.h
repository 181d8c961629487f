// The training loop.
//
// The folder train holds the loop and its parts: training step, gradient reduction, optimizer step
// and evaluator. It writes no files and prints nothing: it reports to sinks, and its host saves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/outcome.h"
#include "data/feed/feeder.h"
#include "model/model.h"
#include "ranks/rank_group.h"
#include "report/metrics.h"
#include "report/status.h"
#include "train/best_metric.h"
#include "train/busy_mean.h"
#include "train/divergence.h"
#include "train/evaluator.h"
#include "train/train_step.h"
#include "train/training_state.h"

namespace trainyard {

struct TrainerOptions {
  std::int64_t epochs = 1;
  std::int64_t last_steps = 0;          // steps of the last epoch; 0: all
  std::int64_t save_every_epochs = 1;   // 0: save by steps
  std::int64_t save_every_steps = 0;    // 0: save by epochs
  std::int64_t clean_every_epochs = 0;  // see TrainerParts::clean
  std::int64_t patience = 0;            // epochs without improvement; 0: no early stopping
  bool may_have_ended = false;          // resumed as it was: its last epoch may have been reached
  BestMetric best_metric;
  std::optional<PlateauOptions> plateau;
  std::int64_t check_weights = 0;  // steps between comparisons of all ranks' models; 0: none
  bool eager = false;              // check every tensor of every step
};

/// The run around a trainer, which asks and tells it.
class TrainerHost {
 public:
  virtual ~TrainerHost() = default;
  /// Seconds on a monotonic clock.
  virtual double now() = 0;
  /// Why training should stop now (a signal, a time limit), or nothing. `edge`: before the first or
  /// after the last step of an epoch.
  virtual std::optional<Outcome> stop_reason(const TrainingState& state, bool edge) = 0;
  /// Saves the state; `best` marks it as the best so far.
  virtual void save(const TrainingState& /*state*/, bool /*best*/) {}
  /// A step or an evaluation batch begins. Neither throws nor blocks.
  virtual void begin(RunPhase /*phase*/) {}
  /// Warns that an epoch's results suggest a wrong setting.
  virtual void warn(const std::string& /*text*/) {}
  /// The network's outputs for the validation split after each epoch, see take_outputs(), of a
  /// model that keeps them.
  virtual void take(std::span<const float> /*outputs*/) {}
  /// From those: the value of a metric of the split (Metric::of_split), and its fault.
  virtual void judge(const Metric& /*metric*/, std::span<const float> /*outputs*/,
                     MetricValue& /*value*/) {}
  /// After each epoch, once it is reported and before it is saved: what this writes is there if the
  /// checkpoint is. May load and evaluate batches of its own.
  virtual void end_epoch(const TrainingState& /*state*/) {}
  /// MiB in use on the GPU with the fullest memory, or nothing.
  virtual std::optional<double> gpu_mem_mib() { return std::nullopt; }
  /// Recent GPU utilization in percent, or nothing.
  virtual std::optional<double> gpu_busy_percent() { return std::nullopt; }
};

/// The objects a trainer uses; all must outlive it.
struct TrainerParts {
  TrainStep& step;
  Feeder& train;
  Feeder& val;
  /// Training samples that are evaluated like the validation split after every
  /// clean_every_epochs-th epoch; null: none.
  Feeder* clean = nullptr;
  MetricsSink& sink;
  RankGroup& ranks;
  TrainerHost& host;
};

class Trainer {
 public:
  Trainer(const TrainerParts& parts, const TrainerOptions& options, TrainingState state);

  /// Trains from the given state until the end or a reason to stop; saves before it returns. Throws
  /// Error{diverged}, naming the layer, if a loss or gradient is not finite, or if a loss is far
  /// above the first one.
  [[nodiscard]] Outcome run();
  [[nodiscard]] const TrainingState& state() const { return state_; }

 private:
  [[nodiscard]] std::optional<Outcome> train_epoch();
  /// Notifies the watchdog and the run.
  void begin(const Operation& operation, RunPhase phase);
  void train_step();
  /// Throws Error{diverged} for what is not finite on any rank after a pass (--eager).
  void judge_pass(const std::optional<NonFinite>& found);
  /// Throws Error{device} if the ranks' models differ.
  void compare_ranks();
  /// Reads the results of all steps so far.
  void take_results();
  /// Processes the results of the steps after `step`.
  void note_steps(std::int64_t step, std::span<const StepResult> results);
  void note_step(std::int64_t step, const StepResult& result);
  /// Reruns the batches of the step after `step`. Its weights are still there, since a non-finite
  /// step is withheld with all later ones.
  [[nodiscard]] std::optional<NonFinite> find_nonfinite(std::int64_t step);
  /// What is not finite, for a message.
  struct Culprit {
    std::size_t step = 0;  // step of the plan
    std::string where;     // position in the network file; "" if not known
    std::string text;      // "" if there is none
  };
  /// The culprit of the rank with the earliest plan step: its values may have spread to the others.
  [[nodiscard]] Culprit first_of_ranks(const std::optional<NonFinite>& found);
  /// Whether the culprit of a pass is of a backward step, which a dynamic loss scale handles.
  [[nodiscard]] bool is_skipped(const Culprit& culprit) const;
  /// `result` of the step, or null if not known.
  [[noreturn]] void report_divergence(std::int64_t step, const Culprit& culprit,
                                      const StepResult* result);
  /// Collective: the shares of waiting of all ranks are compared.
  [[nodiscard]] EpochRow training_row();
  void finish_epoch();
  /// Evaluates the validation split for `row`.
  void validate(EpochRow& row);
  /// Evaluates the clean training samples for `row`, if it is their turn.
  void measure_clean(EpochRow& row);
  /// Reports that batch `batch` of the epoch's validation begins.
  void note_validation(std::int64_t batch);
  [[nodiscard]] bool is_best(double value);
  [[nodiscard]] bool has_waited() const {
    return options_.patience > 0 && state_.epochs_since_best >= options_.patience;
  }
  /// Lowers the learning rates of the following steps if the epoch's metric no longer improves.
  void judge_plateau(const EpochRow& row);
  /// Multiplies the learning rates as the state says.
  void follow_plateau();
  [[nodiscard]] std::int64_t steps_per_epoch() const {
    return parts_.train.batches_per_epoch() / parts_.step.passes();
  }
  /// Steps of the current epoch.
  [[nodiscard]] std::int64_t steps_of_epoch() const {
    const bool last = state_.epoch + 1 == options_.epochs && options_.last_steps > 0;
    return last ? options_.last_steps : steps_per_epoch();
  }
  [[nodiscard]] double elapsed() const;
  /// The share of the epoch's training so far that this rank has waited for batches.
  [[nodiscard]] double data_wait_percent() const;
  /// Over the samples, or their weights.
  [[nodiscard]] double mean_loss(const Totals& totals) const;
  /// The rows that count.
  [[nodiscard]] std::int64_t counted(const Totals& totals) const;
  /// Mean over the samples, if the network has this metric.
  [[nodiscard]] std::optional<double> accuracy_of(const Totals& totals) const;

  TrainerParts parts_;
  TrainerOptions options_;
  TrainingState state_;
  Model& model_;
  Evaluator validation_;
  std::optional<Evaluator> clean_;  // pass over the clean training samples, if they are measured
  double started_ = 0;              // start of this session, minus the time of earlier ones
  double epoch_started_ = 0;
  BusyMean busy_;
  std::optional<std::int64_t> accuracy_sum_;  // its index in Totals::metrics; empty: not measured
  LossLimit loss_limit_;
  EpochWatch epoch_watch_;
  std::vector<std::byte> compared_;    // workspace of compare_ranks()
  std::int64_t epoch_first_step_ = 0;  // first step of this session
  bool saved_ = false;                 // the current state is on disk
};

}  // namespace trainyard
