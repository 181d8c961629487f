// The training loop.
//
// The folder train holds the loop and its parts: training step, gradient reduction, optimizer step,
// evaluator, and the group of ranks. It writes no file and prints nothing: it reports to sinks and
// saves through a function that it is given.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/feeder.h"
#include "model/model.h"
#include "report/metrics.h"
#include "report/outcome.h"
#include "report/progress.h"
#include "train/best_metric.h"
#include "train/busy_mean.h"
#include "train/divergence.h"
#include "train/rank_group.h"
#include "train/training_state.h"
#include "train/training_step.h"
#include "train/updater.h"

namespace trainyard {

struct TrainerOptions {
  std::vector<std::string> metric_names;  // of the model's metrics, in order
  std::int64_t epochs = 1;
  std::int64_t save_every_epochs = 1;  // 0: by steps
  std::int64_t save_every_steps = 0;   // 0: by epochs
  std::int64_t patience = 0;           // epochs without a better value; 0: no early stop
  BestMetric best_metric;
  std::int64_t check_weights = 0;  // updates between comparisons of all ranks' models; 0: none
  bool eager = false;              // check every tensor of every step
};

/// What a trainer works with; all outlive it.
struct TrainerParts {
  Model& model;
  Updater& updater;
  Feeder& train;
  Feeder& val;
  MetricsSink& sink;
  RankGroup& ranks;
  /// Saves the state; `best` marks it as the best one.
  std::function<void(const TrainingState&, bool best)> save;
  /// Why training should stop now (a signal, a time limit), or nothing. `edge`: at the beginning or
  /// the end of an epoch's updates.
  std::function<std::optional<Outcome>(const TrainingState&, bool edge)> stop_reason;
  /// Told of each step and each batch of an evaluation as it begins; neither throws nor waits.
  std::function<void(RunPhase)> begins = [](RunPhase) {};
  /// Seconds on a clock that never goes back.
  std::function<double()> now;
  /// Says that an epoch looks as if a setting were wrong.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
  /// MiB of the fullest GPU's memory that are in use, or nothing.
  std::function<std::optional<double>()> gpu_mem_mib = [] { return std::nullopt; };
  /// Share of the last moments in which the GPU worked, in percent, or nothing.
  std::function<std::optional<double>()> gpu_busy_percent = [] { return std::nullopt; };
};

class Trainer {
 public:
  Trainer(const TrainerParts& parts, const TrainerOptions& options, TrainingState state);

  /// Trains from the state to the end or to a reason to stop; saves before it returns. Throws
  /// Error{diverged} when a loss or gradient is not finite, with the layer, or a loss is far above
  /// the first one.
  [[nodiscard]] Outcome run();
  [[nodiscard]] const TrainingState& state() const { return state_; }

 private:
  [[nodiscard]] std::optional<Outcome> train_epoch();
  /// Tells the watch and the run.
  void begin(const Operation& operation, RunPhase phase);
  void train_step();
  /// Throws Error{device} if the ranks' models have come to differ.
  void compare_ranks();
  void micro_step(std::int64_t index);
  /// Reads what all updates so far measured.
  void take_results();
  /// Of the updates after `step`.
  void note_updates(std::int64_t step, std::span<const UpdateResult> results);
  void note_update(std::int64_t step, const UpdateResult& result);
  /// Runs the batches of the update after `step` again, whose weights are still there, since an
  /// update that is not finite is withheld with all that follow.
  [[nodiscard]] std::optional<NonFinite> find_nonfinite(std::int64_t step);
  /// What is not finite, as a message has it.
  struct Culprit {
    std::size_t step = 0;  // of the plan
    std::string where;     // in the network's file; "" if not known
    std::string text;      // "" if there is none
  };
  /// That of the rank whose step comes first: what it wrote may have spread to the others.
  [[nodiscard]] Culprit first_of_ranks(const std::optional<NonFinite>& found);
  /// Whether what one pass found is a gradient, which a dynamic loss scale answers.
  [[nodiscard]] bool is_skipped(const Culprit& culprit) const;
  /// `result` of the update, if it is known.
  [[noreturn]] void report_divergence(std::int64_t step, const Culprit& culprit,
                                      const UpdateResult* result);
  [[nodiscard]] EpochRow training_row();
  void finish_epoch();
  /// Tells of batch `batch` of the epoch's validation, which begins.
  void note_validation(std::int64_t batch);
  [[nodiscard]] bool is_best(double value);
  /// Updates.
  [[nodiscard]] std::int64_t steps_per_epoch() const {
    return parts_.train.steps_per_epoch() / parts_.updater.reducer().passes();
  }
  [[nodiscard]] double elapsed() const;
  /// Mean over the samples, where the network has it.
  [[nodiscard]] std::optional<double> accuracy_of(const Totals& totals) const;

  TrainerParts parts_;
  TrainerOptions options_;
  TrainingState state_;
  TrainingStep step_;
  double started_ = 0;  // of this session, less the time of those before
  double epoch_started_ = 0;
  BusyMean busy_;
  LossLimit loss_limit_;
  EpochWatch epoch_watch_;
  std::vector<std::byte> compared_;    // room for compare_ranks()
  std::int64_t epoch_first_step_ = 0;  // of this session
  bool saved_ = false;                 // the state as it is stands on disk
};

}  // namespace trainyard
