// What a run says on the console, as text: banner, epoch lines, progress, last line. Pure
// functions; none ends with a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "run/metrics.h"
#include "run/status.h"

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
  std::int64_t parameters = 0;  // trainable and not
  std::string init;             // what `--init` gave, in lines; "" without it
};
/// Samples an update.
[[nodiscard]] std::int64_t global_batch(const Banner& banner);
[[nodiscard]] std::string banner_line(LogStyle style, const Banner& banner);

/// What an epoch line says besides the measurements.
struct EpochContext {
  std::int64_t epochs = 0;
  std::optional<double> step_seconds;  // mean of the epoch's training steps
  std::optional<double> eta_seconds;   // none after the last epoch
};
/// From the row itself: `samples_a_step` are those of an update on all replicas. The eta counts the
/// epochs that are left as long as this one would be with the steps before a resume.
[[nodiscard]] EpochContext epoch_context(const EpochRow& row, std::int64_t epochs,
                                         std::int64_t samples_a_step);
/// "Epoch 1/70 - 64s - 82ms/step - loss: 1.4323 - … - eta 1:13:20 *"; the star marks a new best.
[[nodiscard]] std::string epoch_line(LogStyle style, const EpochRow& row,
                                     const EpochContext& context);

/// Where an epoch under way stands.
struct Progress {
  std::int64_t epoch = 0;  // under way, from 1
  std::int64_t epochs = 0;
  std::int64_t step = 0;  // finished steps of the epoch
  std::int64_t steps = 0;
  double loss = 0;  // mean of the epoch so far
  std::optional<double> accuracy;
  double images_per_s = 0;
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
  int columns = 0;  // of the terminal; parts that do not fit are left out, 0: all fit
};
/// For a terminal: "  3/90  117/391 ━━━━━━──────────────  loss 1.21  acc 0.56  4112 img/s  eta
/// 0:17:24".
[[nodiscard]] std::string bar_line(const Progress& progress, const BarStyle& style);
/// Puts `line` in place of the bar that stands in the terminal's current row; "" takes it away.
[[nodiscard]] std::string repainted(std::string_view line);

struct RunEnd {
  std::int64_t epochs = 0;  // finished
  double seconds = 0;
  std::optional<BestValue> best;
  std::string run;
};
/// "done: 90 epochs in 0:18:22 - best val_accuracy: 0.9312 (epoch 84) - runs/resnet_cifar10/0007".
[[nodiscard]] std::string done_line(LogStyle style, const RunEnd& end);

/// "train resume 'runs/resnet_cifar10/0007'", quoted for a shell.
[[nodiscard]] std::string resume_command(std::string_view run);
/// "resume with: train resume 'runs/resnet_cifar10/0007'".
[[nodiscard]] std::string resume_line(std::string_view run);

}  // namespace trainyard
