#include "run/health.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/epoch_line.h"

namespace trainyard {

namespace {

constexpr int kWorking = 10, kHangs = 11, kDead = 12;
/// Six times the interval at which a live process writes its status.
constexpr std::int64_t kSilenceSeconds = 60;

std::int64_t age(const RunSighting& run, std::int64_t moment) {
  return std::max<std::int64_t>(run.now - moment, 0);
}

std::int64_t silence(const RunSighting& run) { return age(run, run.status.updated); }

/// A lock held by another machine may not be visible here.
bool lives(const RunSighting& run) {
  return run.locked || (!run.here && silence(run) <= kSilenceSeconds);
}

std::string process_of(const RunSighting& run) {
  return "process " + std::to_string(run.status.pid) + " on " + run.status.host;
}

std::string advice_to_go_on(const RunSighting& run) {
  if (!run.resumable) return "start it again: nothing has been trained";
  return "continue with: " + resume_command(run.folder.string());
}

RunHealth ended(const RunSighting& run) {
  const RunStatus& status = run.status;
  const bool done = status.state == RunState::completed;
  return {.verdict = done ? "complete" : std::string(name_of(status.state)),
          .reason = status.message,
          .advice = done ? "" : advice_to_go_on(run),
          .exit_code = *status.exit_code};
}

RunHealth dead(const RunSighting& run) {
  return {.verdict = "dead",
          .reason = process_of(run) + " has ended without saying why",
          .advice = advice_to_go_on(run),
          .exit_code = kDead};
}

RunHealth hangs(const std::string& reason, const std::string& advice) {
  return {.verdict = "hangs", .reason = reason, .advice = advice, .exit_code = kHangs};
}

/// "epoch 3 of 90, step 1173 of 35190, loss 0.9000, 1710 img/s, 1:02:03 left".
std::string place_text(const RunStatus& status) {
  const RunProgress& at = status.at;
  const std::int64_t begun =
      std::min(status.epochs, at.epoch + (status.state == RunState::completed ? 0 : 1));
  std::string text = "epoch " + std::to_string(begun) + " of " + std::to_string(status.epochs) +
                     ", step " + std::to_string(at.step);
  if (status.steps_per_epoch > 0) {
    text += " of " + std::to_string(status.steps_per_epoch * status.epochs);
  }
  if (at.loss) text += ", loss " + value_text(*at.loss);
  if (at.images_per_s) text += ", " + rate_text(*at.images_per_s, status.unit);
  if (at.eta_seconds) text += ", " + duration_text(*at.eta_seconds) + " left";
  return text;
}

std::string seconds(double count) { return fixed_text(std::round(count), 0) + " s"; }

/// What a run does or did, as a verb in a sentence.
std::string activity(const RunStatus& status) {
  const std::string phase(phase_of(status));
  return phase == "reading_data" ? "reading data" : phase;
}

}  // namespace

RunHealth judge_run(const RunSighting& run) {
  const RunProgress& at = run.status.at;
  if (run.status.exit_code) return ended(run);
  if (!lives(run)) return dead(run);
  const std::string process = process_of(run);
  if (run.stopped) {
    return hangs(process + " is stopped by a signal",
                 "continue with: kill -CONT " + std::to_string(run.status.pid));
  }
  if (silence(run) > kSilenceSeconds) {
    return hangs(process + " is alive, but has not written its status for " +
                     seconds(static_cast<double>(silence(run))) +
                     ": it is stopped, or its disk accepts no writes",
                 "");
  }
  const auto still = static_cast<double>(age(run, at.progressed));
  const std::string limit = seconds(at.hang_after_seconds);
  if (at.hang_after_seconds > 0 && still > at.hang_after_seconds) {
    return hangs(process + " is alive, but has made no progress for " + seconds(still) +
                     ", more than " + limit + " (see 'limits')",
                 "");
  }
  return {.verdict = "working",
          .reason = process + " is alive; it counts as hung after " + limit + " without progress",
          .exit_code = kWorking};
}

std::string health_text(const RunSighting& run, const RunHealth& health) {
  const RunStatus& status = run.status;
  std::string text = health.verdict + ": " + run.folder.string();
  if (!status.exit_code) text += (health.exit_code == kDead ? " was " : " is ") + activity(status);
  if (!health.reason.empty()) text += "\n  " + health.reason;
  text += "\n  " + place_text(status);
  if (status.best) {
    text += "\n  best " + status.best->metric + ": " + value_text(status.best->value) + " (epoch " +
            std::to_string(status.best->epoch) + ")";
  }
  if (status.at.progressed > 0) {
    text += "\n  last progress " +
            duration_text(static_cast<double>(age(run, status.at.progressed))) + " ago, at " +
            utc_text(status.at.progressed);
  }
  if (!health.advice.empty()) text += "\n  " + health.advice;
  return text + "\n";
}

Json health_json(const RunSighting& run, const RunHealth& health) {
  const RunStatus& status = run.status;
  return {{"run", run.folder.string()},
          {"verdict", health.verdict},
          {"exit_code", health.exit_code},
          {"reason", health.reason},
          {"advice", health.advice},
          {"phase", std::string(phase_of(status))},
          {"epoch", status.at.epoch},
          {"epochs", status.epochs},
          {"step", status.at.step},
          {"loss", number_or_null(status.at.loss)},
          {"eta_seconds", number_or_null(status.at.eta_seconds)},
          {"images_per_s", number_or_null(status.at.images_per_s)},
          {"seconds_since_progress", age(run, status.at.progressed)},
          {"seconds_since_update", silence(run)},
          {"hang_after_seconds", status.at.hang_after_seconds},
          {"pid", status.pid},
          {"host", status.host},
          {"lives", !status.exit_code && lives(run)}};
}

}  // namespace trainyard
