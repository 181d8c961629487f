// The console texts of a run: banner, epoch lines, progress, last line. Pure functions; no text
// ends with a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/outcome.h"
#include "formats/json.h"
#include "report/metrics.h"
#include "report/status.h"

namespace trainyard {

/// --log: keras (the default), json (one object per line), plain (words without punctuation).
enum class LogStyle { keras, json, plain };
/// Empty for any other word.
[[nodiscard]] std::optional<LogStyle> log_style_of(std::string_view word);

// Numbers.

/// "1.4323"; four digits in exponent form if the magnitude is below 1e-3 ("2.5000e-04").
[[nodiscard]] std::string value_text(double value);
/// "1:13:20", hours without limit.
[[nodiscard]] std::string duration_text(double seconds);
/// "64s", below ten "3.2s".
[[nodiscard]] std::string seconds_text(double seconds);
/// "82ms/step", "2s/step", "450us/step".
[[nodiscard]] std::string step_time_text(double seconds);
/// "781 img/s", below ten "7.8 img/s"; `unit` is what samples are called.
[[nodiscard]] std::string rate_text(double samples_per_s, std::string_view unit);

// Lines.

/// How far a run has come.
struct Reached {
  std::int64_t epoch = 0;          // finished epochs
  std::int64_t epochs = 0;         // in total
  std::int64_t step_in_epoch = 0;  // finished steps of the current epoch
  std::int64_t steps = 0;          // per epoch
  std::int64_t step = 0;           // finished steps of the run
  std::string checkpoint = {};     // path of the newest one, or ""
};

struct Banner {
  std::string run;  // the run folder
  std::uint64_t seed = 0;
  std::string devices;             // "4 GPUs", "CPU, 2 threads"
  std::int64_t replica_batch = 0;  // batch of a rank, or of a shard
  std::int64_t replicas = 1;
  std::int64_t shards = 0;  // shards of a micro-batch, on all ranks; 0: one per rank
  std::int64_t accumulate = 1;
  std::int64_t steps = 0;    // per epoch
  std::int64_t dropped = 0;  // samples per epoch
  double rate_factor = 1;    // factor of the learning rate, for the global batch
  std::int64_t train_samples = 0;
  std::int64_t val_samples = 0;
  std::string feeding = {};     // feeding_text()
  std::int64_t parameters = 0;  // trainable and not
  std::string copies = {};      // "their average (ema 0.999) is evaluated and saved"; "": one copy
  std::string init;             // a description of --init, in lines; "" without it
  std::string judged;           // the metric that decides the best, "val_accuracy"
  std::string unit = "img";     // what samples are called in a throughput: "img", "seq"
  std::optional<Reached> resumed = {};  // empty for a new run, or if nothing was saved
};
/// Samples per step.
[[nodiscard]] std::int64_t global_batch(const Banner& banner);
[[nodiscard]] std::string banner_line(LogStyle style, const Banner& banner);
/// "resuming after epoch 3/90 (step 1173 of the run) from runs/x/0001/checkpoints/…".
[[nodiscard]] std::string resumed_line(LogStyle style, const Reached& from);

/// What an epoch line contains besides the measurements.
struct EpochContext {
  std::int64_t epochs = 0;
  std::optional<double> step_seconds;  // mean of the epoch's training steps
  std::optional<double> eta_seconds;   // none after the last epoch
  std::string unit = "img";            // as in Banner
};
/// From the row itself: `samples_a_step` is the number of samples per step on all ranks. The eta
/// assumes that each epoch left takes as long as this one would with its steps before a resume.
[[nodiscard]] EpochContext epoch_context(const EpochRow& row, std::int64_t epochs,
                                         std::int64_t samples_a_step);
/// The line of an epoch in the styles keras and plain.
[[nodiscard]] std::string epoch_text(LogStyle style, const EpochRow& row,
                                     const EpochContext& context);
/// "Epoch 1/70 - 64s - 82ms/step - loss: 1.4323 - … - eta 1:13:20 *"; the star marks a new best.
[[nodiscard]] std::string epoch_line(LogStyle style, const EpochRow& row,
                                     const EpochContext& context);
/// The line in JSON, as a value.
[[nodiscard]] Json epoch_json(const EpochRow& row, const EpochContext& context);
/// "(*: the best val_accuracy so far)", under the first line with a star.
[[nodiscard]] std::string best_legend(std::string_view judged);

/// Progress within the current epoch.
struct Progress {
  std::int64_t epoch = 0;  // the current one, from 1
  std::int64_t epochs = 0;
  bool validating = false;
  std::int64_t step = 0;  // finished steps of the epoch, or batches of its validation
  std::int64_t steps = 0;
  double loss = 0;                 // mean of the epoch's training so far
  std::optional<double> accuracy;  // the same, if the network has it
  double images_per_s = 0;         // speed of training
  double eta_seconds = 0;
  std::string unit = "img";  // as in Banner
};
/// Seconds for `samples` samples at this throughput; 0 if the throughput is not known yet.
[[nodiscard]] double eta_at(double images_per_s, std::int64_t samples);
/// For a log file, once per minute: "12:03:41 epoch 3/90 step 117/391 loss 1.2101 4112 img/s eta
/// 0:17:24". `utc_seconds` since 1970.
[[nodiscard]] std::string minute_line(LogStyle style, const Progress& progress,
                                      std::int64_t utc_seconds);

struct BarStyle {
  bool utf8 = true;
  int columns = 0;  // width of the terminal; 0: everything fits
};
/// For a terminal: "  3/90  117/391 ━━━━━━──────────────  loss 1.21  acc 0.56  eta 0:17:24  4112
/// img/s". Parts that do not fit are left out, from the right.
[[nodiscard]] std::string bar_line(const Progress& progress, const BarStyle& style);
/// Replaces the bar in the terminal's current row with `line`; "" erases it.
[[nodiscard]] std::string repainted(std::string_view line);

/// The end of a run, for its last line and exit code.
struct RunEnd {
  Outcome outcome = Outcome::completed;
  int signal = 0;           // signal that interrupted it
  double max_seconds = 0;   // --max-time
  std::int64_t waited = 0;  // epochs without a better value, for an early stop
  Reached reached;
  double seconds = 0;  // over all resumes
  std::string judged;  // as in Banner
  std::optional<BestValue> best;
  std::string run;
  bool saves = true;  // false: the run has no checkpoints
};
/// The run's last line. "done: 90 epochs in 0:18:22 - best val_accuracy: 0.9312 (epoch 84) -
/// runs/resnet_cifar10/0007"; for a run that ended before its last epoch: why, where, what was
/// saved, and how to resume. The line of a stopped run ends in resume_line(). In JSON the event is
/// "done", or "stopped" if the run is not done.
[[nodiscard]] std::string end_line(LogStyle style, const RunEnd& end);

/// "train resume 'runs/resnet_cifar10/0007'", quoted for a shell.
[[nodiscard]] std::string resume_command(std::string_view run);
/// "resume with: train resume 'runs/resnet_cifar10/0007'".
[[nodiscard]] std::string resume_line(std::string_view run);

/// One line without its line feed.
[[nodiscard]] inline std::string event_line(const Json& event) {
  std::string line = json_line(event);
  line.pop_back();
  return line;
}

}  // namespace trainyard
