// A run that can be stopped after any step and resumed, and its variants.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rank_sessions.h"
#include "report/csv_sink.h"
#include "run/config/best_metric_choice.h"
#include "run/config/run_config.h"
#include "run/session/session.h"
#include "run/snapshot.h"
#include "run_text.h"
#include "train/trainer.h"

namespace trainyard::test {

inline constexpr std::int64_t kEpochs = 3;
inline constexpr std::int64_t kStepsPerEpoch = 5;

/// Everything that carries state from step to step: momentum, batch norm, dropout, augmentation,
/// L2, a schedule per step, statistics of the training split, early stop.
inline constexpr const char* kResumedRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  defaults: {conv: {l2: 1e-3}}
  layers:
    - conv: {filters: 8, kernel: 3, pad: same_upper}
    - bn
    - relu
    - global_avg_pool
    - dropout: 0.3
    - dense: 4
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 43}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 19, split: test}
  preprocess: [mean_image: train, mean_rgb: train, std_rgb: train]
  augment: [hflip: 0.5, shift: {x: 0.2, y: 0.2}]
  workers: 0
batch: {per_gpu: 8}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
schedule: {poly: {power: 1, by: step}}
epochs: 3
early_stop: {patience: 3}
)";

/// Stores the rows as metrics.csv would show them.
class EpochRecorder final : public MetricsSink {
 public:
  void on_epoch(const EpochRow& row) override { rows.push_back(row); }
  void on_step(const StepRow&) override {}
  std::vector<EpochRow> rows;
};

/// Stops a trainer after a step and counts what it begins.
struct CountingHost final : TrainerHost {
  double now() override { return clock += 1; }
  std::optional<Outcome> stop_reason(const TrainingState& now, bool) override {
    if (stop > 0 && now.step == stop) return Outcome::interrupted;
    return std::nullopt;
  }
  void begin(RunPhase phase) override { ++begun[phase]; }

  std::int64_t stop = 0;                   // finished steps; 0: to the end
  std::map<RunPhase, std::int64_t> begun;  // how often the trainer reported each
  double clock = 0;
};

/// A session with what a trainer needs.
class Run {
 public:
  explicit Run(const Statistics* known = nullptr, const std::vector<std::string>& overrides = {},
               int threads = 1)
      : session(read_run(kResumedRun, overrides), {.threads = threads}, known, alone) {
    session.model().initialize(static_cast<std::uint64_t>(session.config().seed));
  }

  /// Trains from `state` until `stop` finished steps (0: to the end) and returns the state.
  TrainingState train(TrainingState state, std::int64_t stop) {
    host.stop = stop;
    Trainer trainer({.step = session.step(),
                     .train = *session.data().train_feeder,
                     .val = *session.data().val_feeder,
                     .clean = session.data().clean_feeder.get(),
                     .sink = recorder,
                     .ranks = alone,
                     .host = host},
                    {.epochs = kEpochs,
                     .clean_every_epochs = 2,
                     .patience = 3,
                     .best_metric = {.metric = 0},
                     .plateau = plateau_of(session.config(), session.metric_names())},
                    std::move(state));
    outcome = trainer.run();
    return trainer.state();
  }

  /// The contents of a checkpoint and metrics.csv after the run, except for times.
  [[nodiscard]] std::string outcome_text(const TrainingState& state) {
    std::string text;
    CheckpointContent content = snapshot(session, state);
    for (const auto& [name, tensors] : content.files) {
      for (const NamedTensor& tensor : tensors) {
        text.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
      }
    }
    content.state.erase("elapsed_seconds");
    text += json_text(content.state);
    const MetricsColumns columns{.regularisation = true, .clean = true};
    for (const EpochRow& row : recorder.rows) {
      EpochRow untimed = row;
      untimed.elapsed_s = untimed.epoch_s = untimed.images_per_s = 0;
      untimed.data_wait_percent.reset();
      text += epoch_fields(columns, untimed).text();
    }
    return text;
  }

  RankGroup alone{{}};
  Session session;
  EpochRecorder recorder;
  Outcome outcome = Outcome::completed;
  CountingHost host;
};

using Overrides = std::vector<std::string>;
inline const Overrides kScaled = {"loss_scale={start: 4, dynamic: true, growth: 3}"};
inline const Overrides kAveraged = {"average={ema: 0.8, warmup: true}"};
inline const Overrides kClean = {"train_eval={every: 2 epochs, samples: 17}"};
inline const Overrides kSharded = {"batch.total=8", "batch.shards=4"};
// Each epoch but the first is without improvement, and lowers the learning rate.
inline const Overrides kPlateau = {"plateau={min_delta: 100, patience: 1, factor: 0.5}",
                                   "schedule.poly.end=0.01"};
// State that starts elsewhere than at 0, a third block of it, a number that depends on all steps.
inline const Overrides kStarted = {
    "optimizer={rmsprop: {start: 1, centered: true, momentum: 0.9}}"};
inline const Overrides kLargest = {"optimizer={adam: {amsgrad: true}}"};
inline const Overrides kProduct = {"optimizer={nadam: {schedule_decay: 1}}",
                                   "loss_scale={start: 4, dynamic: true, growth: 3}"};
inline const Overrides kTimed = {
    "parameters={conv1: {from: 3 steps}, '*.gamma': {lr_mult: 3, until: 2 epochs}, dense1: "
    "{optimizer: {adam: {amsgrad: true}}}, '*.beta': {optimizer: {rmsprop: {start: 1}}}}"};

// Rates by the norms of parameters, of two optimizers.
inline const Overrides kAdapted = {"optimizer={lamb: {lr: 0.01}}",
                                   "parameters={conv1: {optimizer: {lars: {eta: 0.1}}}}",
                                   "loss_scale={start: 4, dynamic: true, growth: 3}"};

/// The end of a run that is resumed from `checkpoint` with `rows` already in its metrics.csv.
inline std::string resumed_end(const LoadedCheckpoint& checkpoint,
                               const std::vector<EpochRow>& rows, const Overrides& overrides = {}) {
  Run run(nullptr, overrides);
  run.recorder.rows = rows;
  const TrainingState state = restore(run.session, checkpoint);
  return run.outcome_text(run.train(state, 0));
}

inline std::string uninterrupted_end(const Overrides& overrides = {}) {
  Run run(nullptr, overrides);
  return run.outcome_text(run.train({}, 0));
}

}  // namespace trainyard::test
