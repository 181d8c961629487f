// The lines for a run's position, resume and end.
#include <fmt/format.h>

#include <csignal>

#include "base/plural.h"
#include "base/text.h"
#include "report/epoch_line.h"
#include "report/event_line.h"

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
      return fmt::format("done: {} in {}", count_text(end.position.epoch, "epoch"),
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
  json["epochs"] = end.position.epoch;
  json["step"] = end.position.step;
  json["step_in_epoch"] = end.position.step_in_epoch;
  json["elapsed_s"] = end.seconds;
  json["best"] = end.best ? Json({{"metric", end.best->metric},
                                  {"value", end.best->value},
                                  {"epoch", end.best->epoch}})
                          : Json();
  json["run"] = end.run;
  json["checkpoint"] = end.checkpoint.empty() ? Json() : Json(end.checkpoint);
  const std::string command = command_after(end);
  json["resume"] = command.empty() ? Json() : Json(command);
  return event_line(json);
}

}  // namespace

std::string position_text(const RunPosition& position) {
  const std::string step = fmt::format(" (step {} of the run)", position.step);
  if (position.step_in_epoch == 0)
    return fmt::format("after epoch {}/{}", position.epoch, position.epochs) + step;
  return fmt::format("in epoch {}/{} after its step {}/{}", position.epoch + 1, position.epochs,
                     position.step_in_epoch, position.steps) +
         step;
}

std::string resumed_line(LogStyle style, const ResumedFrom& from) {
  if (style != LogStyle::json) {
    return "resuming " + position_text(from.position) + " from " + from.checkpoint;
  }
  return event_line({{"event", "resume"},
                     {"epoch", from.position.epoch},
                     {"epochs", from.position.epochs},
                     {"step", from.position.step},
                     {"step_in_epoch", from.position.step_in_epoch},
                     {"checkpoint", from.checkpoint}});
}

std::string end_line(LogStyle style, const RunEnd& end) {
  if (style == LogStyle::json) return json_end(end);
  const bool whole = end.outcome == Outcome::completed;
  std::string line = cause_of(end);
  if (!whole) line += " - " + position_text(end.position);
  if (!whole && !end.checkpoint.empty()) line += " - saved: " + end.checkpoint;
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
