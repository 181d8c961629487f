// Builds the objects of a run from its config: the only place that does.
//
// The folder run/session holds this assembly, a file for each of its parts (session_device,
// session_data, session_model), and what only they need: joining GPUs, sharing data sets between
// ranks, agreeing on devices and engines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/model.h"
#include "ranks/comm/communicator.h"
#include "ranks/rank_group.h"
#include "report/epoch_line.h"
#include "run/config/batch_numbers.h"
#include "run/config/run_config.h"
#include "run/session/session_data.h"
#include "run/session/session_device.h"
#include "train/train_step.h"
#include "train/trainer.h"
#include "train/training_state.h"

namespace trainyard {

/// A run, ready to train or to be restored from a checkpoint.
class Session {
 public:
  /// `known` are the statistics of the training split from a checkpoint, or null to compute them.
  /// Throws Error{config} if network and data do not fit, Error{data}, Error{memory}.
  /// One of the run's ranks, which outlive it. `measured`, if given, wraps the all-reduces of the
  /// ranks, and outlives it too.
  Session(RunConfig run, const DeviceChoice& choice, const Statistics* known, RankGroup& ranks,
          TimedAllReduce* measured = nullptr);

  /// As given: another session can be made from it.
  [[nodiscard]] const RunConfig& config() const { return run_; }
  [[nodiscard]] const BatchNumbers& batch() const { return batch_; }
  /// Names of the metrics' columns, in the order of the model's metrics.
  [[nodiscard]] const std::vector<std::string>& metric_names() const { return metric_names_; }
  /// The learning rates of the run, for its global batch; null: the optimizer's for every step.
  [[nodiscard]] const Schedule* schedule() const { return schedule_.get(); }
  [[nodiscard]] SessionData& data() { return data_; }
  [[nodiscard]] const SessionDevice& device() const { return device_; }
  [[nodiscard]] Model& model() { return *model_; }
  [[nodiscard]] TrainStep& step() { return *step_; }
  /// Fills the model by its initializers, from the run's seed and the training split.
  void initialize();

 private:
  /// Between the devices that compute.
  [[nodiscard]] Communicator& device_ranks();

  const RunConfig run_;
  std::vector<std::string> metric_names_;
  SessionDevice device_;
  RankGroup& ranks_;
  TimedAllReduce* measured_;
  std::unique_ptr<StatisticsSum> statistics_sum_;  // null: one rank
  SessionData data_;
  BatchNumbers batch_;
  std::shared_ptr<const Schedule> schedule_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<TrainStep> step_;
  GiveUpOnError give_up_;  // gives up for device_.ranks; last
};

/// What a session reports about itself at its start: without run, init, judged and resumed.
[[nodiscard]] Banner banner_of(Session& session);

[[nodiscard]] Reached reached_by(const Session& session, const TrainingState& state);

/// The options by the run file. `unchanged`: resumed with the run's own config. `eager`: check
/// every tensor of every step.
[[nodiscard]] TrainerOptions trainer_options(const Session& session, bool unchanged, bool eager);

}  // namespace trainyard
