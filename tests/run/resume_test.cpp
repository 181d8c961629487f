// Exact resume: a run that is stopped anywhere and resumed ends like an uninterrupted one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "rank_sessions.h"
#include "report/csv_sink.h"
#include "run/config/best_metric_choice.h"
#include "run/config/run_config.h"
#include "run/session/session.h"
#include "run/snapshot.h"
#include "run_text.h"
#include "train/trainer.h"

using namespace trainyard;
using test::reloaded;

namespace {

constexpr std::int64_t kEpochs = 3;
constexpr std::int64_t kStepsPerEpoch = 5;

/// Everything that carries state from step to step: momentum, batch norm, dropout, augmentation,
/// L2, a schedule per step, statistics of the training split, early stop.
constexpr const char* kStoppedRun = R"(
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

/// A session with what a trainer needs.
class Run {
 public:
  explicit Run(const Statistics* known = nullptr, const std::vector<std::string>& overrides = {})
      : session(test::read_run(kStoppedRun, overrides), {.threads = 1}, known, alone) {
    session.model().initialize(static_cast<std::uint64_t>(session.config().seed));
  }

  /// Trains from `state` until `stop` finished steps (0: to the end) and returns the state.
  TrainingState train(TrainingState state, std::int64_t stop) {
    Trainer trainer(
        {.model = session.model(),
         .updater = session.updater(),
         .train = *session.data().train_feeder,
         .val = *session.data().val_feeder,
         .clean = session.data().clean_feeder.get(),
         .sink = recorder,
         .ranks = alone,
         .save = [](const TrainingState&, bool) {},
         .stop_reason = [stop](const TrainingState& now, bool) -> std::optional<Outcome> {
           if (stop > 0 && now.step == stop) return Outcome::interrupted;
           return std::nullopt;
         },
         .begins = [this](RunPhase phase) { ++begun[phase]; },
         .now = [this] { return clock += 1; }},
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
  std::map<RunPhase, std::int64_t> begun;  // how often the trainer reported each
  double clock = 0;
};

using Overrides = std::vector<std::string>;
const Overrides kScaled = {"loss_scale={start: 4, dynamic: true, growth: 3}"};
const Overrides kAveraged = {"average={ema: 0.8, warmup: true}"};
const Overrides kClean = {"train_eval={every: 2 epochs, samples: 17}"};
const Overrides kSharded = {"batch.total=8", "batch.shards=4"};
// Each epoch but the first is without improvement, and lowers the learning rate.
const Overrides kPlateau = {"plateau={min_delta: 100, patience: 1, factor: 0.5}",
                            "schedule.poly.end=0.01"};
// State that starts elsewhere than at 0, a third block of it, a number that depends on all steps.
const Overrides kStarted = {"optimizer={rmsprop: {start: 1, centered: true, momentum: 0.9}}"};
const Overrides kLargest = {"optimizer={adam: {amsgrad: true}}"};
const Overrides kProduct = {"optimizer={nadam: {schedule_decay: 1}}",
                            "loss_scale={start: 4, dynamic: true, growth: 3}"};
const Overrides kTimed = {
    "parameters={conv1: {from: 3 steps}, '*.gamma': {lr_mult: 3, until: 2 epochs}, dense1: "
    "{optimizer: {adam: {amsgrad: true}}}, '*.beta': {optimizer: {rmsprop: {start: 1}}}}"};

/// The end of a run that is resumed from `checkpoint` with `rows` already in its metrics.csv.
std::string resumed_end(const LoadedCheckpoint& checkpoint, const std::vector<EpochRow>& rows,
                        const Overrides& overrides = {}) {
  const Statistics known = statistics_of(checkpoint);
  Run run(&known, overrides);
  run.recorder.rows = rows;
  const TrainingState state = restore(run.session, checkpoint);
  return run.outcome_text(run.train(state, 0));
}

std::string uninterrupted_end(const Overrides& overrides = {}) {
  Run run(nullptr, overrides);
  return run.outcome_text(run.train({}, 0));
}

/// A copy of `tensors` with one bit of one element flipped.
std::vector<NamedTensor> mutated(std::vector<NamedTensor> tensors, std::size_t index,
                                 std::vector<std::byte>& storage) {
  storage.assign(tensors[index].bytes.begin(), tensors[index].bytes.end());
  storage[2] ^= std::byte{0x40};  // a high bit of the first float's fraction
  tensors[index].bytes = storage;
  return tensors;
}

/// A different JSON value.
Json other(const Json& value) {
  if (value.is_array()) return Json::array({value.at(0).get<double>() + 1});
  if (value.is_number_integer()) return value.get<std::int64_t>() - 1;
  return value.get<double>() + 0.5;
}

}  // namespace

TEST_CASE("a run stopped after any step and resumed ends with the same bytes") {
  for (const Overrides& overrides : {Overrides{}, kScaled, kSharded, kClean, kAveraged, kPlateau,
                                     kStarted, kLargest, kProduct, kTimed}) {
    const std::string whole = uninterrupted_end(overrides);
    for (std::int64_t stop = 1; stop < kEpochs * kStepsPerEpoch; ++stop) {
      CAPTURE(stop);
      Run first(nullptr, overrides);
      const TrainingState state = first.train({}, stop);
      REQUIRE(first.outcome == Outcome::interrupted);
      const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
      CHECK(resumed_end(checkpoint, first.recorder.rows, overrides) == whole);
    }
  }
}

TEST_CASE("each step and each batch of an evaluation is reported when it begins") {
  Run run;
  (void)run.train({}, 0);
  CHECK(run.begun.size() == 2);
  CHECK(run.begun[RunPhase::training] == kEpochs * kStepsPerEpoch);
  CHECK(run.begun[RunPhase::evaluating] == kEpochs * 3);  // 19 samples in batches of 8
}

TEST_CASE("a clean pass measures 17 training samples every second epoch, and changes nothing") {
  Run run(nullptr, kClean), plain;
  (void)run.train({}, 0);
  (void)plain.train({}, 0);
  for (std::size_t i = 0; i < kEpochs; ++i) {
    const EpochRow& row = run.recorder.rows.at(i);
    CHECK(row.clean_loss.has_value() == (row.epoch == 2));
    CHECK(row.loss == plain.recorder.rows.at(i).loss);
    CHECK(row.val_loss == plain.recorder.rows.at(i).val_loss);
  }
  const EpochRow& clean = run.recorder.rows[1];
  CHECK(*clean.clean_loss != clean.loss);  // without dropout and augmentation
  const double right = 17 * *clean.metrics.at(0).clean;
  CHECK(right == doctest::Approx(std::round(right)));
}

TEST_CASE("the row of a resumed epoch counts the steps before the resume") {
  Run first;
  const TrainingState state = first.train({}, kStepsPerEpoch + 2);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  const Statistics known = statistics_of(checkpoint);
  Run run(&known);
  (void)run.train(restore(run.session, checkpoint), 0);
  REQUIRE(run.recorder.rows.size() == 2);
  CHECK(run.recorder.rows[0].earlier_steps == 2);
  CHECK(run.recorder.rows[1].earlier_steps == 0);
}

TEST_CASE("another seed ends with other bytes") {
  Run other_seed(nullptr, {"seed=43"});
  CHECK(other_seed.outcome_text(other_seed.train({}, 0)) != uninterrupted_end());
}

TEST_CASE("every tensor of a checkpoint, changed by one bit, changes how the run ends") {
  Run first(nullptr, kAveraged);
  const TrainingState state = first.train({}, kStepsPerEpoch + 2);
  const CheckpointContent content = snapshot(first.session, state);
  CHECK(content.files.contains("trained.safetensors"));
  const std::string end = resumed_end(reloaded(content), first.recorder.rows, kAveraged);
  for (const auto& [name, tensors] : content.files) {
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      CAPTURE(tensors[index].name);
      std::vector<std::byte> storage;
      CheckpointContent changed = content;
      changed.files[name] = mutated(tensors, index, storage);
      CHECK(resumed_end(reloaded(changed), first.recorder.rows, kAveraged) != end);
    }
  }
}

TEST_CASE("every counter of a checkpoint, changed, changes how the run ends") {
  // Stopped after the epoch's steps but before its row is written: every counter is in use.
  Run first(nullptr, kScaled);
  const TrainingState state = first.train({}, 2 * kStepsPerEpoch);
  REQUIRE(state.step_in_epoch == kStepsPerEpoch);
  const CheckpointContent content = snapshot(first.session, state);
  const std::string end = resumed_end(reloaded(content), first.recorder.rows, kScaled);
  for (const char* key : {"finished_updates", "loss_scale", "good_steps"}) {
    REQUIRE(content.state.contains(key));
  }
  for (const auto& [key, value] : content.state.items()) {
    // The time is in no compared column; the thread count is passed to the device, and the global
    // batch matters if it changes, see below.
    if (key == "elapsed_seconds" || key == "threads" || key == "global_batch") continue;
    CAPTURE(key);
    LoadedCheckpoint changed = reloaded(content);
    changed.state[key] = other(value);
    CHECK(resumed_end(changed, first.recorder.rows, kScaled) != end);
  }
}

TEST_CASE("every number of a plateau, changed, changes how the run ends") {
  Run first(nullptr, kPlateau);
  const TrainingState state = first.train({}, kEpochs * kStepsPerEpoch - 1);
  CHECK(state.plateau.factor == 0.5);
  CHECK(first.recorder.rows.at(1).lr > 0.02);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  const std::string end = resumed_end(checkpoint, first.recorder.rows, kPlateau);
  for (const auto& [key, value] : checkpoint.state.at("plateau").items()) {
    CAPTURE(key);
    LoadedCheckpoint changed = checkpoint;
    changed.state["plateau"][key] = value.is_number_integer() ? Json(3) : Json(0.25);
    CHECK(resumed_end(changed, first.recorder.rows, kPlateau) != end);
  }
}

TEST_CASE("a checkpoint and its run have a plateau or neither has one") {
  Run with(nullptr, kPlateau), without;
  const LoadedCheckpoint of_plateau = reloaded(snapshot(with.session, with.train({}, 1)));
  const LoadedCheckpoint plain = reloaded(snapshot(without.session, without.train({}, 1)));
  CHECK(test::refusal([&] {
          static_cast<void>(restore(without.session, of_plateau));
        }).find("has the state of a plateau, the run has none; was 'plateau' changed?") !=
        std::string::npos);
  CHECK(test::refusal([&] {
          static_cast<void>(restore(with.session, plain));
        }).find("has no state of a plateau, the run has one; was 'plateau' changed?") !=
        std::string::npos);
  LoadedCheckpoint negative = of_plateau;
  negative.state["plateau"]["waited"] = -1;
  CHECK(test::refusal([&] {
          static_cast<void>(restore(with.session, negative));
        }).find("has a plateau that no run can have") != std::string::npos);
}

TEST_CASE("counters that no run can have are refused") {
  Run first;
  LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, first.train({}, 1)));
  checkpoint.state["step_in_epoch"] = kStepsPerEpoch + 1;
  Run second;
  CHECK_THROWS_WITH_AS(static_cast<void>(restore(second.session, checkpoint)),
                       "memory: is at step 6 of an epoch of 5 steps; were the data changed?",
                       Error);
}

TEST_CASE(
    "resumed with another global batch, a run keeps its position in the epoch and the schedule") {
  // 43 samples: 5 steps of 8 or 10 of 4 per epoch. Stopped in epoch 2 after 3 steps of 8.
  Run first;
  const TrainingState stopped = first.train({}, kStepsPerEpoch + 3);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, stopped));
  CHECK(global_batch_of(checkpoint) == 8);
  const Statistics known = statistics_of(checkpoint);
  Run half(&known, {"batch.per_gpu=4"});
  const TrainingState state = restore(half.session, checkpoint);
  CHECK(state.epoch == 1);
  CHECK(state.step == kStepsPerEpoch + 3);
  CHECK(state.step_in_epoch == 6);
  CHECK(half.session.updater().position().tried == 10 + 6);
  CHECK(state.gradient_norm_sum / 6 == doctest::Approx(stopped.gradient_norm_sum / 3));
  // Each of the epoch's 40 samples once: 24 are in the totals, 16 follow.
  half.train(state, 0);
  CHECK(half.recorder.rows.at(0).samples == 80);
  CHECK(half.recorder.rows.size() == 2);
  // A remainder is rounded up: no sample is used twice.
  Run uneven(&known, {"batch.per_gpu=5"});
  CHECK(restore(uneven.session, checkpoint).step_in_epoch == 5);
  // After the last whole step of the new batch the epoch is done.
  Run twice(&known, {"batch.per_gpu=16"});
  const TrainingState end = first.train(stopped, 2 * kStepsPerEpoch);
  REQUIRE(end.step_in_epoch == kStepsPerEpoch);
  CHECK(restore(twice.session, reloaded(snapshot(first.session, end))).step_in_epoch == 2);
  CHECK(restore(half.session, reloaded(snapshot(half.session, {}))).step_in_epoch == 0);
}

TEST_CASE("a checkpoint stores its run's elapsed time and thread count") {
  Run first;
  const TrainingState state = first.train({}, 3);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  CHECK(threads_of(checkpoint) == 1);
  Run second;
  CHECK(restore(second.session, checkpoint).elapsed_seconds == state.elapsed_seconds);
  CHECK(state.elapsed_seconds > 0);
}

TEST_CASE("a checkpoint of another network is refused with the tensors that differ") {
  Run first;
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, first.train({}, 1)));
  Run wider(nullptr,
            {"network.layers=[conv: {filters: 16, kernel: 3}, global_avg_pool, dense: 4]"});
  try {
    static_cast<void>(restore(wider.session, checkpoint));
    FAIL("a checkpoint that does not fit was taken");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    CHECK(std::string(error.what())
              .find("conv1.weight: has shape [8, 3, 3, 3], expected "
                    "[16, 3, 3, 3]") != std::string::npos);
  }
}

TEST_CASE("a checkpoint without a tensor of the network is refused with its name") {
  Run first;
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, first.train({}, 1)));
  Run deeper(nullptr, {"network.layers=[conv: {filters: 8, kernel: 3}, conv: {filters: 8, kernel: "
                       "1}, global_avg_pool, dense: 4]"});
  try {
    static_cast<void>(restore(deeper.session, checkpoint));
    FAIL("a checkpoint that does not fit was taken");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("conv2.weight: is not in the file") != std::string::npos);
  }
}

TEST_CASE("a checkpoint with a state that no run can have is refused") {
  Run first;
  const CheckpointContent content = snapshot(first.session, first.train({}, 2));
  const auto refusal = [&](const std::string& key, const Json& value) {
    LoadedCheckpoint changed = reloaded(content);
    changed.state[key] = value;
    try {
      Run second;
      static_cast<void>(threads_of(changed));
      static_cast<void>(restore(second.session, changed));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::checkpoint);
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& [key, value] : content.state.items()) {
    CAPTURE(key);
    CHECK(refusal(key, "text")
              .starts_with("memory/state.json: does not contain the counters of a run: "));
  }
  CHECK(refusal("threads", 1025) == "memory/state.json: has 1025 threads, expected 1 to 1024");
  CHECK(refusal("threads", 0) == "memory/state.json: has 0 threads, expected 1 to 1024");
  CHECK(refusal("global_batch", 0) == "memory/state.json: has a global batch of 0");
  for (const char* key : {"epoch", "step", "samples"}) {
    CHECK(refusal(key, -1) == "memory/state.json: has a negative count");
  }
  CHECK(refusal("metric_sums", Json::array()) ==
        "memory/state.json: has 0 sums of metrics, the run has 1; were they changed?");
}

TEST_CASE("a checkpoint with a loss scale is refused for a run without one, and vice versa") {
  const auto refusal = [](const Overrides& saved, const Overrides& resumed) {
    Run first(nullptr, saved), second(nullptr, resumed);
    try {
      static_cast<void>(
          restore(second.session, reloaded(snapshot(first.session, first.train({}, 1)))));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal(kScaled, {}) ==
        "memory/state.json: has a loss scale, the run has none; was 'loss_scale' or 'precision' "
        "changed?");
  CHECK(refusal({}, kScaled) ==
        "memory/state.json: has no loss scale, the run has one; was 'loss_scale' or 'precision' "
        "changed?");
}

TEST_CASE("statistics of other images than the run's are refused") {
  Run first;
  const Statistics whole = first.session.data().statistics;
  for (const auto values : {&Statistics::mean_image, &Statistics::mean, &Statistics::deviation}) {
    Statistics known = whole;
    (known.*values).pop_back();
    try {
      const Run second(&known);
      FAIL("statistics that do not fit were taken");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::checkpoint);
      CHECK(std::string(error.what()).find("do not fit its images [3, 8, 8]: a mean image of ") !=
            std::string::npos);
    }
  }
}
