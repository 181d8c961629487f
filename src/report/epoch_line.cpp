#include "report/epoch_line.h"

#include <fmt/format.h>

#include <array>
#include <csignal>

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

std::string position_text(const Reached& reached) {
  const std::string step = fmt::format(" (step {} of the run)", reached.step);
  if (reached.step_in_epoch == 0)
    return fmt::format("after epoch {}/{}", reached.epoch, reached.epochs) + step;
  return fmt::format("in epoch {}/{} after its step {}/{}", reached.epoch + 1, reached.epochs,
                     reached.step_in_epoch, reached.steps) +
         step;
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

}  // namespace trainyard
