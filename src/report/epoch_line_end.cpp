// The lines for a run's position, resume and end.
#include <fmt/format.h>

#include <csignal>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {
namespace {

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

/// Why it ended, as a word for programs.
const char* reason_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::completed:
      return "completed";
    case Outcome::stopped_early:
      return "early_stop";
    case Outcome::out_of_time:
      return "max_time";
    case Outcome::interrupted:
      return "signal";
  }
  return "?";
}

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
  Json json = {{"event", is_done(end) ? "done" : "stopped"}, {"reason", reason_of(end.outcome)}};
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
