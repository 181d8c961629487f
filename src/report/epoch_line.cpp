#include "report/epoch_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/text.h"

namespace trainyard {
namespace {

std::string json_banner(const Banner& banner) {
  Json json = {{"event", "start"},
               {"run", banner.run},
               {"seed", banner.seed},
               {"devices", banner.devices},
               {"global_batch", global_batch(banner)},
               {"replica_batch", banner.replica_batch},
               {"replicas", banner.replicas},
               {"shards", banner.shards},
               {"accumulate", banner.accumulate},
               {"steps_per_epoch", banner.steps},
               {"dropped_samples", banner.dropped},
               {"lr_factor", banner.rate_factor},
               {"train_samples", banner.train_samples},
               {"val_samples", banner.val_samples},
               {"parameters", banner.parameters}};
  if (!banner.feeding.empty()) json["feeding"] = banner.feeding;
  if (!banner.copies.empty()) json["copies"] = banner.copies;
  if (!banner.init.empty()) json["init"] = banner.init;
  return event_line(json);
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return fmt::format("signal {}", signal);
  }
}

/// Why it ended, as a word for programs: in the order of Outcome.
constexpr std::array<const char*, 4> kReasons = {"completed", "early_stop", "signal", "max_time"};
static_assert(kReasons.size() == static_cast<std::size_t>(Outcome::out_of_time) + 1);

std::string cause_of(const RunEnd& end) {
  switch (end.outcome) {
    case Outcome::completed:
      return fmt::format("done: {} in {}", count_text(end.reached.epoch, "epoch"),
                         duration_text(end.seconds));
    case Outcome::stopped_early:
      return fmt::format("stopped early: {} without a better {}", count_text(end.waited, "epoch"),
                         end.judged);
    case Outcome::out_of_time:
      return "stopped by --max-time " + number_text(end.max_seconds) + "s";
    case Outcome::interrupted:
      return "stopped by " + signal_name(end.signal) + (end.signal == SIGINT ? " (Ctrl-C)" : "");
  }
  return "";
}

bool is_done(const RunEnd& end) {
  return end.outcome == Outcome::completed || end.outcome == Outcome::stopped_early;
}

/// The command that trains further; "" for a run with nothing left.
std::string command_after(const RunEnd& end) {
  if (end.outcome == Outcome::completed || !end.saves) return "";
  if (end.outcome != Outcome::stopped_early) return resume_command(end.run);
  return fmt::format("{} --set early_stop.patience={}", resume_command(end.run), 2 * end.waited);
}

std::string how_to_go_on(const RunEnd& end) {
  if (!end.saves) {
    return is_done(end)
               ? " - " + end.run
               : " - no checkpoint was saved ('checkpoint' is off): " + resume_command(end.run) +
                     " begins anew";
  }
  if (!is_done(end)) return " - " + resume_line(end.run);
  return " - to train further: " + command_after(end);
}

std::string json_end(const RunEnd& end) {
  Json json = {{"event", is_done(end) ? "done" : "stopped"},
               {"reason", kReasons.at(static_cast<std::size_t>(end.outcome))}};
  if (end.outcome == Outcome::interrupted) json["signal"] = signal_name(end.signal);
  json["epochs"] = end.reached.epoch;
  json["step"] = end.reached.step;
  json["step_in_epoch"] = end.reached.step_in_epoch;
  json["elapsed_s"] = end.seconds;
  json["best"] = end.best ? Json({{"metric", end.best->metric},
                                  {"value", end.best->value},
                                  {"epoch", end.best->epoch}})
                          : Json();
  json["run"] = end.run;
  json["checkpoint"] = end.reached.checkpoint.empty() ? Json() : Json(end.reached.checkpoint);
  const std::string command = command_after(end);
  json["resume"] = command.empty() ? Json() : Json(command);
  return event_line(json);
}

/// A smaller share of waiting, in percent, costs nothing worth a place in the line.
constexpr double kLeastDataWait = 1;

/// "in epoch 4/90 after its step 117/391 (step 1290 of the run)", between epochs "after epoch 3/90
/// (step 1173 of the run)".
std::string position_text(const Reached& reached) {
  const std::string step = fmt::format(" (step {} of the run)", reached.step);
  if (reached.step_in_epoch == 0)
    return fmt::format("after epoch {}/{}", reached.epoch, reached.epochs) + step;
  return fmt::format("in epoch {}/{} after its step {}/{}", reached.epoch + 1, reached.epochs,
                     reached.step_in_epoch, reached.steps) +
         step;
}

/// The values of an epoch, in the order of metrics.csv.
std::vector<NamedValue> measured_values(const EpochRow& row) {
  std::vector<NamedValue> values = {{"loss", row.loss}};
  const auto add = [&](const std::string& name, const std::optional<double>& value) {
    if (value) values.push_back({name, *value});
  };
  add("reg_loss", row.reg_loss);
  add("total_loss", row.total_loss);
  for (const MetricValue& metric : row.metrics) add(metric.name, metric.training);
  add("val_loss", row.val_loss);
  for (const MetricValue& metric : row.metrics) add("val_" + metric.name, metric.validation);
  add("clean_loss", row.clean_loss);
  for (const MetricValue& metric : row.metrics) add("clean_" + metric.name, metric.clean);
  return values;
}

}  // namespace

std::optional<LogStyle> log_style_of(std::string_view word) {
  if (word == "keras") return LogStyle::keras;
  if (word == "json") return LogStyle::json;
  if (word == "plain") return LogStyle::plain;
  return std::nullopt;
}

std::int64_t global_batch(const Banner& banner) {
  const std::int64_t parts = banner.shards > 0 ? banner.shards : banner.replicas;
  return banner.replica_batch * parts * banner.accumulate;
}

std::string banner_line(LogStyle style, const Banner& banner) {
  if (style == LogStyle::json) return json_banner(banner);
  std::string batch = fmt::format("{} = {} x {}", global_batch(banner), banner.replica_batch,
                                  banner.shards > 0 ? fmt::format("{} shards", banner.shards)
                                                    : std::to_string(banner.replicas));
  if (banner.accumulate > 1) batch += fmt::format(" x {} accumulated", banner.accumulate);
  batch += ", " + count_text(banner.steps, "step");
  if (banner.dropped > 0) {
    batch += ", " + count_text(banner.dropped, "sample") + " dropped";
  }
  if (banner.rate_factor != 1) batch += fmt::format(", lr x {:.6g}", banner.rate_factor);
  return fmt::format(
      "run {} | seed {} | {}, global batch {} | {} train, {} val{}{} | {} parameters{}{}{}{}",
      banner.run, banner.seed, banner.devices, batch, banner.train_samples, banner.val_samples,
      banner.feeding.empty() ? "" : ", ", banner.feeding, with_separators(banner.parameters),
      banner.copies.empty() ? "" : ", ", banner.copies, banner.init.empty() ? "" : "\n",
      banner.init);
}

double eta_at(double images_per_s, std::int64_t samples) {
  return images_per_s > 0 ? static_cast<double>(samples) / images_per_s : 0;
}

EpochContext epoch_context(const EpochRow& row, std::int64_t epochs, std::int64_t samples_a_step) {
  EpochContext context{.epochs = epochs};
  if (row.images_per_s > 0) {
    context.step_seconds = static_cast<double>(samples_a_step) / row.images_per_s;
  }
  if (row.epoch < epochs) {
    const double earlier =
        static_cast<double>(row.earlier_steps) * context.step_seconds.value_or(0);
    context.eta_seconds = (row.epoch_s + earlier) * static_cast<double>(epochs - row.epoch);
  }
  return context;
}

Json epoch_json(const EpochRow& row, const EpochContext& context) {
  Json json = {{"event", "epoch"}, {"epoch", row.epoch}, {"epochs", context.epochs}};
  json["step"] = row.step;
  json["samples"] = row.samples;
  for (const NamedValue& item : measured_values(row)) json[item.name] = number_or_null(item.value);
  json["lr"] = number_or_null(row.lr);
  json["grad_norm"] = number_or_null(row.grad_norm);
  json["is_best"] = row.is_best;
  json["elapsed_s"] = row.elapsed_s;
  json["epoch_s"] = row.epoch_s;
  json["images_per_s"] = number_or_null(row.images_per_s);
  json["data_wait_percent"] = number_or_null(row.data_wait_percent);
  json["eta_s"] = number_or_null(context.eta_seconds);
  return json;
}

std::string epoch_line(LogStyle style, const EpochRow& row, const EpochContext& context) {
  return style == LogStyle::json ? event_line(epoch_json(row, context))
                                 : epoch_text(style, row, context);
}

std::string best_legend(std::string_view judged) {
  return fmt::format("(*: the best {} so far)", judged);
}

std::string minute_line(LogStyle style, const Progress& progress, std::int64_t utc_seconds) {
  if (style == LogStyle::json) {
    return event_line({{"event", "progress"},
                       {"time", utc_text(utc_seconds)},
                       {"epoch", progress.epoch},
                       {"epochs", progress.epochs},
                       {"phase", progress.validating ? "validation" : "training"},
                       {progress.validating ? "batch" : "step_in_epoch", progress.step},
                       {progress.validating ? "batches" : "steps_per_epoch", progress.steps},
                       {"loss", progress.loss},
                       {"accuracy", number_or_null(progress.accuracy)},
                       {"images_per_s", progress.images_per_s},
                       {"eta_s", progress.eta_seconds}});
  }
  return fmt::format("{} epoch {}/{} {} {}/{} loss {} {} eta {}", utc_time_of_day(utc_seconds),
                     progress.epoch, progress.epochs, progress.validating ? "validation" : "step",
                     progress.step, progress.steps, value_text(progress.loss),
                     rate_text(progress.images_per_s, progress.unit),
                     duration_text(progress.eta_seconds));
}

std::string resumed_line(LogStyle style, const Reached& from) {
  if (style != LogStyle::json) {
    return "resuming " + position_text(from) + " from " + from.checkpoint;
  }
  return event_line({{"event", "resume"},
                     {"epoch", from.epoch},
                     {"epochs", from.epochs},
                     {"step", from.step},
                     {"step_in_epoch", from.step_in_epoch},
                     {"checkpoint", from.checkpoint}});
}

std::string end_line(LogStyle style, const RunEnd& end) {
  if (style == LogStyle::json) return json_end(end);
  const bool whole = end.outcome == Outcome::completed;
  std::string line = cause_of(end);
  if (!whole) line += " - " + position_text(end.reached);
  if (!whole && !end.reached.checkpoint.empty()) line += " - saved: " + end.reached.checkpoint;
  if (end.best) {
    line += fmt::format(" - best {}: {} (epoch {})", end.best->metric, value_text(end.best->value),
                        end.best->epoch);
  }
  return line + (whole ? " - " + end.run : how_to_go_on(end));
}

std::string resume_command(std::string_view run) {
  const std::string quoted = shell_quoted(run);
  // Always quoted, so that every name looks the same.
  return "train resume " + (quoted == run ? "'" + quoted + "'" : quoted);
}

std::string resume_line(std::string_view run) { return "resume with: " + resume_command(run); }

std::string epoch_text(LogStyle style, const EpochRow& row, const EpochContext& context) {
  const bool plain = style == LogStyle::plain;
  const char* const between = plain ? " " : ": ";
  std::vector<std::string> parts = {
      fmt::format("{} {}/{}", plain ? "epoch" : "Epoch", row.epoch, context.epochs)};
  if (plain) parts.push_back(fmt::format("step {}", row.step));
  parts.push_back((plain ? "time " : "") + seconds_text(row.epoch_s));
  if (!plain && context.step_seconds) parts.push_back(step_time_text(*context.step_seconds));
  for (const NamedValue& item : measured_values(row)) {
    parts.push_back(item.name + between + value_text(item.value));
  }
  parts.push_back(fmt::format("lr{}{:.3e}", between, row.lr));
  parts.push_back(rate_text(row.images_per_s, context.unit));
  if (row.data_wait_percent.value_or(0) >= kLeastDataWait) {
    parts.push_back(fmt::format("data wait {:.0f}%", *row.data_wait_percent));
  }
  if (context.eta_seconds) parts.push_back("eta " + duration_text(*context.eta_seconds));
  return joined(parts, plain ? " " : " - ").append(!row.is_best ? "" : plain ? " best" : " *");
}

std::string value_text(double value) {
  // fmt prints the sign of a NaN; lines need one word.
  if (std::isnan(value)) return "nan";
  const bool small = value != 0 && std::abs(value) < 1e-3;
  return small ? fmt::format("{:.4e}", value) : fmt::format("{:.4f}", value);
}

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string seconds_text(double seconds) {
  return seconds < 9.95 ? fmt::format("{:.1f}s", seconds) : fmt::format("{:.0f}s", seconds);
}

std::string step_time_text(double seconds) {
  if (seconds >= 9.95) return fmt::format("{:.0f}s/step", seconds);
  if (seconds >= 0.9995) return fmt::format("{:.1f}s/step", seconds);
  if (seconds >= 0.9995e-3) return fmt::format("{:.0f}ms/step", seconds * 1e3);
  return fmt::format("{:.0f}us/step", seconds * 1e6);
}

std::string rate_text(double samples_per_s, std::string_view unit) {
  return samples_per_s < 9.95 ? fmt::format("{:.1f} {}/s", samples_per_s, unit)
                              : fmt::format("{:.0f} {}/s", samples_per_s, unit);
}

namespace {

constexpr std::int64_t kBarColumns = 20;

std::string bar_of(const Progress& progress, bool utf8) {
  const std::int64_t steps = std::max<std::int64_t>(progress.steps, 1);
  const std::int64_t filled =
      kBarColumns * std::clamp<std::int64_t>(progress.step, 0, steps) / steps;
  std::string bar = " ";
  for (std::int64_t i = 0; i < kBarColumns; ++i) {
    bar += utf8 ? (i < filled ? "━" : "─") : (i < filled ? "#" : "-");
  }
  return bar;
}

/// Two digits are enough for something that changes ten times a second.
std::string short_value(double value) {
  if (value != 0 && value < 0.01 && value > -0.01) return fmt::format("{:.1e}", value);
  return fmt::format("{:.2f}", value);
}

std::vector<std::string> words_of(const Progress& progress, bool utf8) {
  const std::string count = fmt::format("{}/{}", progress.step, progress.steps);
  const std::string what = progress.validating ? "  validation " : "  ";
  std::vector<std::string> words = {
      fmt::format("{:>3}/{}{}{}", progress.epoch, progress.epochs, what, count),
      bar_of(progress, utf8)};
  if (!progress.validating) words.push_back("  loss " + short_value(progress.loss));
  if (!progress.validating && progress.accuracy) {
    words.push_back("  acc " + short_value(*progress.accuracy));
  }
  words.push_back("  eta " + duration_text(progress.eta_seconds));
  if (!progress.validating) {
    words.push_back("  " + rate_text(progress.images_per_s, progress.unit));
  }
  return words;
}

}  // namespace

std::string bar_line(const Progress& progress, const BarStyle& style) {
  std::string line;
  for (const std::string& word : words_of(progress, style.utf8)) {
    // The last column stays free: some terminals wrap when it is written to.
    if (style.columns > 0 && columns_of(line + word) >= style.columns) break;
    line += word;
  }
  return line;
}

std::string repainted(std::string_view line) {
  return fmt::format("\r{}\x1b[K", line);  // go to the row's start, print, erase the rest
}

}  // namespace trainyard
