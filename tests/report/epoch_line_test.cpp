#include "report/epoch_line.h"

#include <doctest/doctest.h>

#include <csignal>
#include <limits>
#include <string>

#include "formats/json.h"

using namespace trainyard;

namespace {

EpochRow sample_row() {
  EpochRow row;
  row.epoch = 1;
  row.step = 781;
  row.samples = 50000;
  row.loss = 1.43234;
  row.val_loss = 1.13186;
  row.metrics = {{"accuracy", 0.4787, 0.5983}};
  row.lr = 5e-3;
  row.grad_norm = 2.5;
  row.is_best = true;
  row.elapsed_s = 64.2;
  row.epoch_s = 63.9;
  row.images_per_s = 781.4;
  return row;
}

const EpochContext kContext = {.epochs = 70, .step_seconds = 0.0819, .eta_seconds = 4400};

Progress sample_progress() {
  return {.epoch = 3,
          .epochs = 90,
          .step = 117,
          .steps = 391,
          .loss = 1.21009,
          .accuracy = 0.5612,
          .images_per_s = 4112.3,
          .eta_seconds = 1044};
}

Banner sample_banner() {
  return {.run = "runs/resnet_cifar10/0007",
          .seed = 42,
          .devices = "4 GPUs",
          .replica_batch = 64,
          .replicas = 4,
          .steps = 195,
          .dropped = 80,
          .train_samples = 50000,
          .val_samples = 10000,
          .parameters = 273066};
}

}  // namespace

TEST_CASE("values have four decimals from 1e-3 on, below it four digits and an exponent") {
  CHECK(value_text(1.43236) == "1.4324");
  CHECK(value_text(0) == "0.0000");
  CHECK(value_text(1e-3) == "0.0010");
  CHECK(value_text(0.00099) == "9.9000e-04");
  CHECK(value_text(-2.5) == "-2.5000");
  CHECK(value_text(-0.00025) == "-2.5000e-04");
  CHECK(value_text(-std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(value_text(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("durations have units") {
  CHECK(duration_text(0) == "0:00:00");
  CHECK(duration_text(59.6) == "0:01:00");
  CHECK(duration_text(4400) == "1:13:20");
  CHECK(duration_text(360000) == "100:00:00");
  CHECK(duration_text(-1) == "0:00:00");
  CHECK(duration_text(std::numeric_limits<double>::infinity()) == "?");
  CHECK(seconds_text(63.9) == "64s");
  CHECK(seconds_text(9.94) == "9.9s");
  CHECK(seconds_text(9.96) == "10s");
  CHECK(step_time_text(0.0819) == "82ms/step");
  CHECK(step_time_text(0.00045) == "450us/step");
  CHECK(step_time_text(0.99951) == "1.0s/step");
  CHECK(step_time_text(0.0009996) == "1ms/step");
  CHECK(step_time_text(12.3) == "12s/step");
  CHECK(rate_text(781.4, "img") == "781 img/s");
  CHECK(rate_text(7.84, "seq") == "7.8 seq/s");
}

TEST_CASE("the banner names run, seed, devices, batch, data and parameters") {
  CHECK(banner_line(LogStyle::keras, sample_banner()) ==
        "run runs/resnet_cifar10/0007 | seed 42 | 4 GPUs, global batch 256 = 64 x 4, 195 steps, 80 "
        "samples dropped | 50000 train, 10000 val | 273,066 parameters");
  Banner banner = sample_banner();
  banner.feeding = "uploaded as bytes";
  CHECK(
      banner_line(LogStyle::plain, banner).find("| 50000 train, 10000 val, uploaded as bytes | ") !=
      std::string::npos);
  CHECK(parse_json(banner_line(LogStyle::json, banner), {"line"})["feeding"] == banner.feeding);
  banner.copies = "their average (ema 0.9) is evaluated and saved";
  CHECK(banner_line(LogStyle::keras, banner).ends_with("273,066 parameters, " + banner.copies));
  CHECK(parse_json(banner_line(LogStyle::json, banner), {"line"})["copies"] == banner.copies);
  banner.accumulate = 2;
  banner.dropped = 0;
  banner.steps = 1;
  CHECK(banner_line(LogStyle::plain, banner)
            .find("global batch 512 = 64 x 4 x 2 accumulated, 1 step | ") != std::string::npos);
  banner.shards = 8;
  CHECK(banner_line(LogStyle::plain, banner)
            .find("global batch 1024 = 64 x 8 shards x 2 accumulated, 1 step | ") !=
        std::string::npos);
}

TEST_CASE("an epoch is one line as Keras writes it") {
  CHECK(epoch_line(LogStyle::keras, sample_row(), kContext) ==
        "Epoch 1/70 - 64s - 82ms/step - loss: 1.4323 - accuracy: 0.4787 - val_loss: 1.1319 - "
        "val_accuracy: 0.5983 - lr: 5.000e-03 - 781 img/s - eta 1:13:20 *");
}

TEST_CASE("the eta of a bar matches the throughput next to it, from the first step on") {
  CHECK(eta_at(50, 200) == 4);
  CHECK(eta_at(50, 0) == 0);
  CHECK(eta_at(0, 200) == 0);
}

TEST_CASE("an eta assumes whole epochs, also after a resume within an epoch") {
  EpochRow row = sample_row();
  row.images_per_s = 100;
  row.epoch_s = 60;
  const auto eta = [&row](std::int64_t epochs) {
    return epoch_context(row, epochs, 50).eta_seconds;
  };
  CHECK(eta(3) == 120);
  CHECK_FALSE(eta(1).has_value());
  row.earlier_steps = 40;  // half a second each
  CHECK(eta(3) == 160);
  row.images_per_s = 0;  // no step in this session
  CHECK(eta(3) == 120);
}

TEST_CASE("unmeasured values are left out of the epoch line, and further metrics are added") {
  EpochRow row = sample_row();
  row.is_best = false;
  row.val_loss.reset();
  row.reg_loss = 0.5;
  row.metrics = {{"accuracy", 0.25, std::nullopt}, {"top5_accuracy", 0.75, std::nullopt}};
  CHECK(epoch_line(LogStyle::keras, row, {.epochs = 1}) ==
        "Epoch 1/1 - 64s - loss: 1.4323 - reg_loss: 0.5000 - accuracy: 0.2500 - top5_accuracy: "
        "0.7500 - lr: 5.000e-03 - 781 img/s");
}

TEST_CASE("a plain epoch line is words and numbers") {
  CHECK(epoch_line(LogStyle::plain, sample_row(), kContext) ==
        "epoch 1/70 step 781 time 64s loss 1.4323 accuracy 0.4787 val_loss 1.1319 val_accuracy "
        "0.5983 lr 5.000e-03 781 img/s eta 1:13:20 best");
}

TEST_CASE("a JSON epoch line has every value in full, and null for NaN and infinities") {
  EpochRow row = sample_row();
  row.val_loss = std::numeric_limits<double>::quiet_NaN();
  const std::string line = epoch_line(LogStyle::json, row, kContext);
  CHECK(line.find('\n') == std::string::npos);
  const Json json = parse_json(line, {"line"});
  CHECK(json["event"] == "epoch");
  CHECK(json["epoch"] == 1);
  CHECK(json["loss"] == 1.43234);
  CHECK(json["val_accuracy"] == 0.5983);
  CHECK(json["val_loss"].is_null());
  CHECK(json["is_best"] == true);
  CHECK(json["eta_s"] == 4400);
}

TEST_CASE("banner, progress and end are also JSON objects") {
  CHECK(parse_json(banner_line(LogStyle::json, sample_banner()), {"line"})["global_batch"] == 256);
  const Json progress =
      parse_json(minute_line(LogStyle::json, sample_progress(), 951827696), {"line"});
  CHECK(progress["time"] == "2000-02-29T12:34:56Z");
  CHECK(progress["step_in_epoch"] == 117);
  const Json done = parse_json(
      end_line(LogStyle::json, {.reached = {.epoch = 3}, .seconds = 5.5, .run = "r"}), {"line"});
  CHECK(done["event"] == "done");
  CHECK(done["best"].is_null());
}

TEST_CASE("a log file gets a line with the time of day") {
  CHECK(minute_line(LogStyle::keras, sample_progress(), 951827696) ==
        "12:34:56 epoch 3/90 step 117/391 loss 1.2101 4112 img/s eta 0:17:24");
}

TEST_CASE("the bar shows how far the epoch is") {
  CHECK(bar_line(sample_progress(), {}) ==
        "  3/90  117/391 ━━━━━───────────────  loss 1.21  acc 0.56  eta 0:17:24  4112 img/s");
  CHECK(bar_line(sample_progress(), {.utf8 = false}) ==
        "  3/90  117/391 #####---------------  loss 1.21  acc 0.56  eta 0:17:24  4112 img/s");
  Progress progress = sample_progress();
  progress.step = 391;
  progress.accuracy.reset();
  progress.loss = 0.00123;
  CHECK(bar_line(progress, {.utf8 = false}) ==
        "  3/90  391/391 ####################  loss 1.2e-03  eta 0:17:24  4112 img/s");
}

TEST_CASE("the validation has its own bar") {
  Progress progress = sample_progress();
  progress.validating = true;
  progress.step = 20;
  progress.steps = 40;
  CHECK(bar_line(progress, {.utf8 = false}) ==
        "  3/90  validation 20/40 ##########----------  eta 0:17:24");
  CHECK(bar_line(progress, {.utf8 = false, .columns = 40}) == "  3/90  validation 20/40");
  CHECK(minute_line(LogStyle::keras, progress, 951827696) ==
        "12:34:56 epoch 3/90 validation 20/40 loss 1.2101 4112 img/s eta 0:17:24");
  const Json json = parse_json(minute_line(LogStyle::json, progress, 951827696), {"line"});
  CHECK(json["phase"] == "validation");
  CHECK(json["batch"] == 20);
  CHECK(json["batches"] == 40);
}

TEST_CASE("in a narrow terminal the bar line has the parts that fit, from the left") {
  const auto bar_in = [](int columns) {
    return bar_line(sample_progress(), {.utf8 = false, .columns = columns});
  };
  const std::string whole = bar_in(0);
  const int length = static_cast<int>(whole.size());
  CHECK(bar_in(length + 1) == whole);
  CHECK(bar_in(length) == "  3/90  117/391 #####---------------  loss 1.21  acc 0.56  eta 0:17:24");
  CHECK(bar_in(60) == "  3/90  117/391 #####---------------  loss 1.21  acc 0.56");
  CHECK(bar_in(40) == "  3/90  117/391 #####---------------");
  CHECK(bar_in(30) == "  3/90  117/391");
  CHECK(bar_in(10) == "");
  for (int columns = 1; columns < length; ++columns) {
    CHECK(static_cast<int>(bar_in(columns).size()) < columns);
  }
}

TEST_CASE("a repaint starts at the row's beginning and erases the rest of the old bar") {
  CHECK(repainted("x") == "\rx\x1b[K");
  CHECK(repainted("") == "\r\x1b[K");
}

namespace {

RunEnd sample_end(Outcome outcome) {
  return {.outcome = outcome,
          .signal = SIGINT,
          .max_seconds = 300,
          .waited = 5,
          .reached = {.epoch = 89,
                      .epochs = 90,
                      .step_in_epoch = 7,
                      .steps = 391,
                      .step = 34806,
                      .checkpoint = "runs/r/0007/checkpoints/epoch-0089_step-034806"},
          .seconds = 1102,
          .judged = "val_accuracy",
          .best = BestValue{"val_accuracy", 0.9312, 84},
          .run = "runs/r/0007"};
}

constexpr const char* kKept =
    "in epoch 90/90 after its step 7/391 (step 34806 of the run) - saved: "
    "runs/r/0007/checkpoints/epoch-0089_step-034806 - best val_accuracy: 0.9312 (epoch 84) - ";

}  // namespace

TEST_CASE("the last line names epochs, time, the best value and the folder") {
  RunEnd end = sample_end(Outcome::completed);
  end.reached.epoch = 90;
  CHECK(end_line(LogStyle::keras, end) ==
        "done: 90 epochs in 0:18:22 - best val_accuracy: 0.9312 (epoch 84) - runs/r/0007");
  CHECK(end_line(LogStyle::plain, {.reached = {.epoch = 1}, .seconds = 2, .run = "r"}) ==
        "done: 1 epoch in 0:00:02 - r");
}

TEST_CASE("the last line of a run that ended early says why, what was saved, and how to resume") {
  CHECK(end_line(LogStyle::keras, sample_end(Outcome::out_of_time)) ==
        "stopped by --max-time 300s - " + std::string(kKept) +
            "resume with: train resume 'runs/r/0007'");
  RunEnd end = sample_end(Outcome::interrupted);
  CHECK(end_line(LogStyle::keras, end) == "stopped by SIGINT (Ctrl-C) - " + std::string(kKept) +
                                              "resume with: train resume 'runs/r/0007'");
  end.signal = SIGTERM;
  CHECK(end_line(LogStyle::keras, end).starts_with("stopped by SIGTERM - "));
  end = sample_end(Outcome::stopped_early);
  end.reached.step_in_epoch = 0;
  CHECK(end_line(LogStyle::keras, end) ==
        "stopped early: 5 epochs without a better val_accuracy - after epoch 89/90 (step 34806 of "
        "the run) - saved: runs/r/0007/checkpoints/epoch-0089_step-034806 - best val_accuracy: "
        "0.9312 (epoch 84) - to train further: train resume 'runs/r/0007' --set "
        "early_stop.patience=10");
}

TEST_CASE("the end of a run is an event with its reason, its checkpoint and the resume command") {
  const Json stopped =
      parse_json(end_line(LogStyle::json, sample_end(Outcome::interrupted)), {"line"});
  CHECK(stopped["event"] == "stopped");
  CHECK(stopped["reason"] == "signal");
  CHECK(stopped["signal"] == "SIGINT");
  CHECK(stopped["epochs"] == 89);
  CHECK(stopped["step"] == 34806);
  CHECK(stopped["checkpoint"] == "runs/r/0007/checkpoints/epoch-0089_step-034806");
  CHECK(stopped["best"]["epoch"] == 84);
  CHECK(stopped["resume"] == "train resume 'runs/r/0007'");
  const Json early =
      parse_json(end_line(LogStyle::json, sample_end(Outcome::stopped_early)), {"line"});
  CHECK(early["event"] == "done");
  CHECK(early["reason"] == "early_stop");
  CHECK(early["resume"] == "train resume 'runs/r/0007' --set early_stop.patience=10");
  const Json done = parse_json(end_line(LogStyle::json, sample_end(Outcome::completed)), {"line"});
  CHECK(done["reason"] == "completed");
  CHECK(done["resume"].is_null());
}

TEST_CASE("a resume prints its position in the run and its checkpoint") {
  const Reached from{.epoch = 3,
                     .epochs = 90,
                     .steps = 391,
                     .step = 1173,
                     .checkpoint = "r/checkpoints/epoch-0003_step-001173"};
  CHECK(resumed_line(LogStyle::keras, from) ==
        "resuming after epoch 3/90 (step 1173 of the run) from "
        "r/checkpoints/epoch-0003_step-001173");
  const Json json = parse_json(resumed_line(LogStyle::json, from), {"line"});
  CHECK(json["event"] == "resume");
  CHECK(json["epoch"] == 3);
  CHECK(json["step"] == 1173);
}

TEST_CASE("the resume command can be pasted into a shell") {
  CHECK(resume_line("runs/resnet_cifar10/0007") ==
        "resume with: train resume 'runs/resnet_cifar10/0007'");
  CHECK(resume_command("it's/0001") == "train resume 'it'\\''s/0001'");
}

TEST_CASE("the three log styles have names") {
  CHECK(log_style_of("keras") == LogStyle::keras);
  CHECK(log_style_of("json") == LogStyle::json);
  CHECK(log_style_of("plain") == LogStyle::plain);
  CHECK_FALSE(log_style_of("Keras").has_value());
}
