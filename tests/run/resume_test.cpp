// Exact resume: a run that is stopped anywhere and resumed ends like an uninterrupted one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "stopped_run.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

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
                                     kStarted, kLargest, kProduct, kTimed, kAdapted}) {
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

TEST_CASE("a run stopped on four threads and resumed on one ends with the same bytes") {
  for (const Overrides& overrides : {Overrides{}, kSharded}) {
    Run first(nullptr, overrides, 4);
    const TrainingState state = first.train({}, kStepsPerEpoch + 2);
    const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
    CHECK(resumed_end(checkpoint, first.recorder.rows, overrides) == uninterrupted_end(overrides));
  }
}

TEST_CASE("each step and each batch of an evaluation is reported when it begins") {
  Run run;
  (void)run.train({}, 0);
  CHECK(run.host.begun.size() == 2);
  CHECK(run.host.begun[RunPhase::training] == kEpochs * kStepsPerEpoch);
  CHECK(run.host.begun[RunPhase::evaluating] == kEpochs * 3);  // 19 samples in batches of 8
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
  const Statistics known = first.session.data().statistics;
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
    // The time is in no compared column, and the global batch matters if it changes, see below. The
    // statistics are compared by their hash.
    if (key == "elapsed_seconds" || key == "global_batch") continue;
    if (key == "statistics") continue;
    CAPTURE(key);
    LoadedCheckpoint changed = reloaded(content);
    changed.state[key] = other(value);
    CHECK(resumed_end(changed, first.recorder.rows, kScaled) != end);
  }
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
  const Statistics known = first.session.data().statistics;
  Run half(&known, {"batch.per_gpu=4"});
  const TrainingState state = restore(half.session, checkpoint);
  CHECK(state.epoch == 1);
  CHECK(state.step == kStepsPerEpoch + 3);
  CHECK(state.step_in_epoch == 6);
  CHECK(half.session.step().position().tried == 10 + 6);
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

TEST_CASE("a checkpoint stores its run's elapsed time") {
  Run first;
  const TrainingState state = first.train({}, 3);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
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
      static_cast<void>(statistics_hash_of(changed));
      static_cast<void>(restore(second.session, changed));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::checkpoint);
      return std::string(error.what());
    }
    return std::string();
  };
  for (const auto& [key, value] : content.state.items()) {
    CAPTURE(key);
    // The only text is the hash of the statistics.
    CHECK(refusal(key, value.is_string() ? Json(1) : Json("text"))
              .starts_with("memory/state.json: does not contain the counters of a run: "));
  }
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

TEST_CASE("a run does not begin to whiten when it is resumed") {
  Run first;
  const Statistics& known = first.session.data().statistics;
  const auto whitened = [&] { const Run second(&known, {"data.preprocess=[zca: train]"}); };
  CHECK_THROWS_WITH_AS(whitened(),
                       "the run's whitening matrix has 0 values, but its samples have 192; was "
                       "'augment' or 'preprocess' changed?",
                       Error);
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

TEST_CASE("a plateau halves the learning rates of the schedule from the next epoch on") {
  Run lowered(nullptr, kPlateau), plain(nullptr, {"schedule.poly.end=0.01"});
  CHECK(lowered.train({}, 0).plateau.factor == 0.25);
  static_cast<void>(plain.train({}, 0));
  const double factors[] = {1, 1, 0.5};
  for (std::size_t i = 0; i < kEpochs; ++i) {
    CHECK(lowered.recorder.rows.at(i).lr == factors[i] * plain.recorder.rows.at(i).lr);
  }
}

TEST_CASE("every number of a plateau, changed, changes how the run ends") {
  const Overrides patient = {"plateau={min_delta: 100, patience: 2, factor: 0.5}"};
  Run first(nullptr, patient);
  const TrainingState state = first.train({}, kEpochs * kStepsPerEpoch - 1);
  REQUIRE(state.plateau.waited == 1);
  const LoadedCheckpoint checkpoint = reloaded(snapshot(first.session, state));
  const std::string end = resumed_end(checkpoint, first.recorder.rows, patient);
  for (const auto& [key, value] : checkpoint.state.at("plateau").items()) {
    CAPTURE(key);
    LoadedCheckpoint changed = checkpoint;
    const Json whole = value == 0 ? 3 : 0;
    changed.state["plateau"][key] = value.is_number_integer() ? whole : Json(0.25);
    CHECK(resumed_end(changed, first.recorder.rows, patient) != end);
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
