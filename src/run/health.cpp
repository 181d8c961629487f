#include "run/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/host.h"
#include "base/text.h"
#include "report/epoch_line.h"
#include "run/run_folder.h"

namespace trainyard {

namespace {

constexpr int kWorking = 10, kHangs = 11, kDead = 12;
/// Six times the interval at which a live process writes its status.
constexpr std::int64_t kSilenceSeconds = 60;

std::int64_t age(const RunHealth& run, std::int64_t moment) {
  return std::max<std::int64_t>(run.now - moment, 0);
}

std::int64_t silence(const RunHealth& run) { return age(run, run.status.updated); }

/// A lock held by another machine may not be visible here.
bool lives(const RunHealth& run) {
  return run.locked || (!run.here && silence(run) <= kSilenceSeconds);
}

std::string process_of(const RunHealth& run) {
  return "process " + std::to_string(run.status.pid) + " on " + run.status.host;
}

std::string advice_to_go_on(const RunHealth& run) {
  if (!run.resumable) return "start it again: nothing has been trained";
  return "continue with: " + resume_command(run.folder.string());
}

RunHealth verdict(RunHealth run, int exit_code, const std::string& reason,
                  const std::string& advice) {
  static constexpr const char* kWords[] = {"working", "hangs", "dead"};
  run.verdict = kWords[exit_code - kWorking];
  run.reason = reason;
  run.advice = advice;
  run.exit_code = exit_code;
  return run;
}

RunHealth ended(RunHealth run) {
  const bool done = run.status.state == RunState::completed;
  run.verdict = done ? "complete" : std::string(name_of(run.status.state));
  run.reason = run.status.message;
  run.advice = done ? "" : advice_to_go_on(run);
  run.exit_code = *run.status.exit_code;
  return run;
}

/// "epoch 3 of 90, step 1173 of 35190, loss 0.9000, 1710 img/s, 1:02:03 left".
std::string place_text(const RunStatus& status) {
  const RunProgress& at = status.at;
  const std::int64_t begun = at.epoch + (status.state == RunState::completed ? 0 : 1);
  const auto counted = [](std::string_view noun, std::int64_t count, std::int64_t of) {
    return fmt::format("{} {}{}", noun, count, of > 0 ? fmt::format(" of {}", of) : "");
  };
  std::string text =
      counted("epoch", status.epochs > 0 ? std::min(status.epochs, begun) : begun, status.epochs) +
      ", " + counted("step", at.step, status.steps);
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

/// proc(5): "77 (name) T ...", where the name may contain anything.
bool is_stopped(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && (text[name_end + 2] == 'T' || text[name_end + 2] == 't');
}

}  // namespace

RunHealth look_at_run(const fs::path& folder, const Clock& clock) {
  const fs::path file = folder / "status.json";
  const bool locked = is_locked(folder);  // before the status, which a process writes last
  const auto status = read_status(file);
  if (!status) {
    std::error_code ignored;
    refuse_command("'" + folder.string() + "' is not a run folder: it has no status.json" +
                   (fs::exists(file, ignored) ? " that can be read" : ""));
  }
  const bool here = status->host == host_name();
  return judged({.folder = folder,
                 .status = *status,
                 .now = clock.utc_seconds(),
                 .locked = locked,
                 .here = here,
                 .stopped = here && locked && is_stopped(status->pid),
                 .resumable = is_run_folder(folder)});
}

RunHealth judged(RunHealth seen) {
  const RunProgress& at = seen.status.at;
  if (seen.status.exit_code) return ended(std::move(seen));
  const std::string process = process_of(seen);
  if (!lives(seen)) {
    return verdict(seen, kDead, process + " has ended without saying why", advice_to_go_on(seen));
  }
  if (seen.stopped) {
    return verdict(seen, kHangs, process + " is stopped by a signal",
                   "continue with: kill -CONT " + std::to_string(seen.status.pid));
  }
  if (silence(seen) > kSilenceSeconds) {
    return verdict(seen, kHangs,
                   process + " is alive, but has not written its status for " +
                       seconds(static_cast<double>(silence(seen))) +
                       ": it is stopped, or its disk accepts no writes",
                   "");
  }
  const auto still = static_cast<double>(age(seen, at.progressed));
  const std::string limit = seconds(at.hang_after_seconds);
  if (at.hang_after_seconds > 0 && still > at.hang_after_seconds) {
    return verdict(seen, kHangs,
                   process + " is alive, but has made no progress for " + seconds(still) +
                       ", more than " + limit + " (see 'limits')",
                   "");
  }
  return verdict(seen, kWorking,
                 process + " is alive; it counts as hung after " + limit + " without progress", "");
}

std::string health_text(const RunHealth& run) {
  const RunStatus& status = run.status;
  std::string text = run.verdict + ": " + run.folder.string();
  if (!status.exit_code) text += (run.exit_code == kDead ? " was " : " is ") + activity(status);
  if (!run.reason.empty()) text += "\n  " + run.reason;
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
  if (!run.advice.empty()) text += "\n  " + run.advice;
  return text + "\n";
}

Json health_json(const RunHealth& run) {
  const RunStatus& status = run.status;
  return {{"run", run.folder.string()},
          {"verdict", run.verdict},
          {"exit_code", run.exit_code},
          {"reason", run.reason},
          {"advice", run.advice},
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
