// What a run says on the console, as text: banner, epoch lines, progress, last line. Pure
// functions; none ends with a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "report/metrics.h"
#include "report/outcome.h"
#include "report/status.h"

namespace trainyard {

/// --log: keras (the default), json (one object a line), plain (words without punctuation).
enum class LogStyle { keras, json, plain };
/// Empty for any other word.
[[nodiscard]] std::optional<LogStyle> log_style_of(std::string_view word);

// Numbers.

/// "1.4323"; four digits in exponent form below 1e-3 ("2.5000e-04"), whatever the sign.
[[nodiscard]] std::string value_text(double value);
/// "1:13:20", hours without limit.
[[nodiscard]] std::string duration_text(double seconds);
/// "64s", below ten "3.2s".
[[nodiscard]] std::string seconds_text(double seconds);
/// "82ms/step", "2s/step", "450us/step".
[[nodiscard]] std::string step_time_text(double seconds);
/// "781 img/s", below ten "7.8 img/s".
[[nodiscard]] std::string rate_text(double images_per_s);

// Lines.

/// Where a run stands.
struct RunPosition {
  std::int64_t epoch = 0;          // finished epochs
  std::int64_t epochs = 0;         // that it is to have
  std::int64_t step_in_epoch = 0;  // finished steps of the epoch under way
  std::int64_t steps = 0;          // of an epoch
  std::int64_t step = 0;           // finished steps of the run
};
/// "in epoch 4/90 after its step 117/391 (step 1290 of the run)", between epochs "after epoch 3/90
/// (step 1173 of the run)".
[[nodiscard]] std::string place_text(const RunPosition& place);

/// What a resume begins with.
struct ResumedFrom {
  RunPosition place;
  std::string checkpoint;  // its path
};

struct Banner {
  std::string run;  // the run folder
  std::uint64_t seed = 0;
  std::string devices;             // "4 GPUs", "CPU, 2 threads"
  std::int64_t replica_batch = 0;  // or of a shard
  std::int64_t replicas = 1;
  std::int64_t shards = 0;  // of a micro-step, on all ranks; 0: one a replica
  std::int64_t accumulate = 1;
  std::int64_t steps = 0;    // an epoch
  std::int64_t dropped = 0;  // samples an epoch
  double rate_factor = 1;    // of the learning rate, for the global batch
  std::int64_t train_samples = 0;
  std::int64_t val_samples = 0;
  std::string feeding = {};                 // feeding_text()
  std::int64_t parameters = 0;              // trainable and not
  std::string init;                         // what `--init` gave, in lines; "" without it
  std::string judged;                       // the metric that says what is best, "val_accuracy"
  std::optional<ResumedFrom> resumed = {};  // none for a new run, or where nothing was saved
};
/// Samples an update.
[[nodiscard]] std::int64_t global_batch(const Banner& banner);
[[nodiscard]] std::string banner_line(LogStyle style, const Banner& banner);
/// "resuming after epoch 3/90 (step 1173 of the run) from runs/x/0001/checkpoints/…".
[[nodiscard]] std::string resumed_line(LogStyle style, const ResumedFrom& from);

/// What an epoch line says besides the measurements.
struct EpochContext {
  std::int64_t epochs = 0;
  std::optional<double> step_seconds;  // mean of the epoch's training steps
  std::optional<double> eta_seconds;   // none after the last epoch
  std::string judged = {};             // as in Banner
  int columns = 0;                     // of the terminal; 0: none, the line is whole
};
/// From the row itself: `samples_a_step` are those of an update on all replicas. The eta counts the
/// epochs that are left as long as this one would be with the steps before a resume.
[[nodiscard]] EpochContext epoch_context(const EpochRow& row, std::int64_t epochs,
                                         std::int64_t samples_a_step);
/// "Epoch 1/70 - 64s - 82ms/step - loss: 1.4323 - … - eta 1:13:20 *"; the star marks a new best.
/// In a terminal that is too narrow parts are left out, see epoch_text(); never in JSON.
[[nodiscard]] std::string epoch_line(LogStyle style, const EpochRow& row,
                                     const EpochContext& context);
/// "(*: the best val_accuracy so far)", under the first line with a star.
[[nodiscard]] std::string best_legend(std::string_view judged);

/// Where an epoch under way stands.
struct Progress {
  std::int64_t epoch = 0;  // under way, from 1
  std::int64_t epochs = 0;
  bool validating = false;
  std::int64_t step = 0;  // finished steps of the epoch, or batches of its validation
  std::int64_t steps = 0;
  double loss = 0;                 // mean of the epoch's training so far
  std::optional<double> accuracy;  // the same, where the network has it
  double images_per_s = 0;         // of training
  double eta_seconds = 0;
};
/// Seconds that so many samples take at this rate; 0 where there is none yet.
[[nodiscard]] double eta_at(double images_per_s, std::int64_t samples);
/// For a log file, once a minute: "12:03:41 epoch 3/90 step 117/391 loss 1.2101 4112 img/s eta
/// 0:17:24". `utc_seconds` since 1970.
[[nodiscard]] std::string minute_line(LogStyle style, const Progress& progress,
                                      std::int64_t utc_seconds);

struct BarStyle {
  bool utf8 = true;
  int columns = 0;  // of the terminal; 0: everything fits
};
/// For a terminal: "  3/90  117/391 ━━━━━━──────────────  loss 1.21  acc 0.56  4112 img/s  eta
/// 0:17:24". Where that does not fit, the rate goes first, then the bar gets shorter and goes, then
/// the eta, the accuracy, the loss, at last everything.
[[nodiscard]] std::string bar_line(const Progress& progress, const BarStyle& style);
/// Puts `line` in place of the bar that stands in the terminal's current row; "" takes it away.
[[nodiscard]] std::string repainted(std::string_view line);

struct RunEnd {
  Outcome outcome = Outcome::completed;
  int signal = 0;           // that interrupted it
  double max_seconds = 0;   // --max-time
  std::int64_t waited = 0;  // epochs without a better value, of an early stop
  RunPosition place;
  double seconds = 0;  // over all resumes
  std::string judged;  // as in Banner
  std::optional<BestValue> best;
  std::string run;
  std::string checkpoint;  // path of the newest one
};
/// The run's last line. "done: 90 epochs in 0:18:22 - best val_accuracy: 0.9312 (epoch 84) -
/// runs/resnet_cifar10/0007"; of a run that ended before its last epoch why, where, what is kept,
/// and how to go on. The line of a run that was stopped ends in resume_line(). In JSON the event is
/// "done", or "stopped" if the run is not done.
[[nodiscard]] std::string end_line(LogStyle style, const RunEnd& end);

/// "train resume 'runs/resnet_cifar10/0007'", quoted for a shell.
[[nodiscard]] std::string resume_command(std::string_view run);
/// "resume with: train resume 'runs/resnet_cifar10/0007'".
[[nodiscard]] std::string resume_line(std::string_view run);

}  // namespace trainyard
