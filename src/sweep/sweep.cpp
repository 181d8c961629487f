#include "sweep/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "config/node.h"
#include "ranks/spawn/rank_output.h"
#include "report/epoch_line.h"
#include "report/status.h"
#include "run/config/resolved_config.h"
#include "run/config_changes.h"
#include "run/resume_checks.h"
#include "run/run_folder.h"
#include "sweep/job_pool.h"

namespace trainyard {

namespace {

constexpr int kStoppedByOwnLimit = 75;  // EX_TEMPFAIL
constexpr int kLinesOfFailure = 5;
constexpr std::array kOutcomeNames = {"completed", "diverged", "failed", "stopped", "waiting"};

bool stops_a_run(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGUSR1;
}

SweepEnd end_of(const ProcessEnd& end) {
  constexpr int kDiverged = static_cast<int>(ErrorKind::diverged);
  if (end.signal != 0) {
    return {.outcome = stops_a_run(end.signal) ? SweepOutcome::stopped : SweepOutcome::failed,
            .exit_code = 128 + end.signal};
  }
  if (end.exit_code == 0) return {.outcome = SweepOutcome::completed};
  if (end.exit_code == kDiverged) return {SweepOutcome::diverged, kDiverged};
  const bool limit = end.exit_code == kStoppedByOwnLimit;
  return {limit ? SweepOutcome::stopped : SweepOutcome::failed, end.exit_code};
}

SweepEnd end_before(SweepProgress before) {
  if (before == SweepProgress::completed) return {.outcome = SweepOutcome::completed};
  if (before != SweepProgress::diverged) return {};
  return {SweepOutcome::diverged, static_cast<int>(ErrorKind::diverged)};
}

/// ", best val_accuracy: 0.7500 (epoch 3)", or "".
std::string best_text(const SweepRun& run) {
  const auto status = read_status(run.folder / "status.json");
  if (!status || !status->best) return "";
  return fmt::format(", best {}: {} (epoch {})", status->best->metric,
                     fixed_text(status->best->value, 4), status->best->epoch);
}

/// A sweep in progress: counts ends and tells them.
class SweepProgressLines {
 public:
  SweepProgressLines(const SweepRequest& request, const Clock& clock, SweepResult& result)
      : request_(request), clock_(clock), result_(result), began_(request.runs.size()) {
    over_ = static_cast<std::size_t>(
        std::count_if(request.runs.begin(), request.runs.end(), std::mem_fn(&SweepRun::is_over)));
  }

  void start(std::size_t i) { began_[i] = clock_.seconds(); }

  void end(std::size_t i, const PoolEnd& pool_end) {
    const SweepRun& run = request_.runs[i];
    SweepEnd& end = result_.ends[i];
    end = end_of(pool_end.end);
    // A process that could not be started says nothing of the run.
    if (!pool_end.problem.empty()) end.outcome = SweepOutcome::failed;
    if (end.outcome != SweepOutcome::stopped) ++over_;
    request_.tell(fmt::format("{:>{}}/{} {}: {}", over_, number_text(total()).size(), total(),
                              run.point.name, text_of(run, end, pool_end, i)));
  }

 private:
  [[nodiscard]] std::int64_t total() const {
    return static_cast<std::int64_t>(request_.runs.size());
  }

  [[nodiscard]] std::string text_of(const SweepRun& run, const SweepEnd& end,
                                    const PoolEnd& pool_end, std::size_t i) const {
    const std::string span = duration_text(clock_.seconds() - began_[i]);
    if (!pool_end.problem.empty()) return "failed: " + pool_end.problem;
    if (end.outcome == SweepOutcome::completed) return "completed in " + span + best_text(run);
    if (end.outcome == SweepOutcome::stopped) return "stopped after " + span + best_text(run);
    const std::string what = end.outcome == SweepOutcome::diverged ? "diverged" : "failed";
    return fmt::format("{} after {} with exit code {}; the end of {}:\n{}", what, span,
                       end.exit_code, run.log.string(),
                       RankOutput::at(run.log).tail(kLinesOfFailure));
  }

  const SweepRequest& request_;
  const Clock& clock_;
  SweepResult& result_;
  std::vector<double> began_;  // times on the clock, by run
  std::size_t over_ = 0;
};

}  // namespace

std::string_view name_of(SweepOutcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

SweepLock::SweepLock(const fs::path& folder) {
  Disk().make_folders(folder);
  const fs::path path = folder / ".lock";
  file_ = Descriptor(
      {::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666)});
  if (!file_) {
    throw disk_error("cannot write '" + path.string() +
                     "': " + std::generic_category().message(errno));
  }
  if (::flock(file_.get().value, LOCK_EX | LOCK_NB) == 0) return;
  (void)another_holds_lock(errno, path);
  refuse_command("another process runs the sweep in '" + folder.string() +
                 "'; wait until it ends, or give --out another folder");
}

SweepResult run_sweep(const SweepRequest& request, const Clock& clock) {
  SweepResult result;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < request.runs.size(); ++i) {
    const SweepRun& run = request.runs[i];
    result.ends.push_back(end_before(run.before));
    if (!run.is_over()) left.push_back(i);
  }
  SweepProgressLines lines(request, clock, result);
  const PoolCalls calls{
      .job =
          [&](std::size_t job, std::size_t slot) {
            const SweepRun& run = request.runs[left[job]];
            return PoolJob{.command = request.command(run, slot), .log = run.log};
          },
      .may_start = request.may_start,
      .started = [&](std::size_t job) { lines.start(left[job]); },
      .ended = [&](std::size_t job, const PoolEnd& end) { lines.end(left[job], end); }};
  result.signal = run_jobs(left.size(), request.jobs, calls, clock);
  return result;
}

int exit_code_of(std::span<const SweepEnd> ends) {
  for (const SweepOutcome outcome : {SweepOutcome::failed, SweepOutcome::stopped,
                                     SweepOutcome::waiting, SweepOutcome::diverged}) {
    const auto first = std::ranges::find(ends, outcome, &SweepEnd::outcome);
    if (first == ends.end()) continue;
    const bool left = outcome == SweepOutcome::stopped || outcome == SweepOutcome::waiting;
    return left ? kStoppedByOwnLimit : first->exit_code;
  }
  return 0;
}

std::string counts_text(std::span<const SweepEnd> ends) {
  std::string text = count_text(std::ssize(ends), "run") + ": ";
  std::string separator;
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    const auto count = std::ranges::count(ends, static_cast<SweepOutcome>(i), &SweepEnd::outcome);
    if (count == 0) continue;
    text += separator + fmt::format("{} {}", count, kOutcomeNames[i]);
    separator = ", ";
  }
  return text;
}

RunTable results_of(std::span<const SweepAxis> axes, std::span<const SweepRun> runs,
                    std::span<const SweepEnd> ends, const Clock& clock) {
  std::vector<RecordedRun> records;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (is_run_folder(runs[i].folder)) {
      records.push_back(read_recorded_run(runs[i].folder, clock));
      continue;
    }
    RecordedRun record{.folder = runs[i].folder, .state = std::string(name_of(ends[i].outcome))};
    if (ends[i].outcome == SweepOutcome::failed) record.exit_code = ends[i].exit_code;
    records.push_back(std::move(record));
  }
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes) keys.push_back(axis.key);
  RunTable table = tabulate(records, std::move(keys));
  // As typed: a config that was never written has none, and the others may spell numbers otherwise.
  for (std::size_t i = 0; i < runs.size(); ++i) table.rows[i].values = runs[i].point.values;
  return table;
}

std::vector<RecordedRun> measured_runs(std::span<const SweepRun> runs, const Clock& clock) {
  std::vector<RecordedRun> measured;
  for (const SweepRun& run : runs) {
    if (!is_run_folder(run.folder)) continue;
    RecordedRun record = read_recorded_run(run.folder, clock);
    if (!record.epochs.rows.empty()) measured.push_back(std::move(record));
  }
  return measured;
}

SweepRun sweep_run(const fs::path& sweep, std::span<const SweepAxis> axes, SweepPoint point) {
  SweepRun run{.overrides = point_overrides(axes, point),
               .folder = sweep / "runs" / point.name,
               .log = sweep / "logs" / (point.name + ".log")};
  run.point = std::move(point);
  return run;
}

SweepProgress progress_of(const SweepRun& run, const RunConfig& given, const std::string& file) {
  if (!is_run_folder(run.folder)) {
    RunFolder::require_place_at(Disk(), run.folder);
    return SweepProgress::none;
  }
  require_config_of_run(given, file + " with " + run.point.name, read_config_of_run(run.folder, {}),
                        run.folder);
  if (is_locked(run.folder)) {
    refuse_command("another process is training " + run.folder.string() +
                   "; wait until it ends, or give --out another folder");
  }
  const auto status = read_status(run.folder / "status.json");
  if (!status) return SweepProgress::unfinished;
  if (status->state == RunState::completed) return SweepProgress::completed;
  if (status->state == RunState::diverged) return SweepProgress::diverged;
  return SweepProgress::unfinished;
}

void require_different(const std::vector<SweepRun>& runs, const std::vector<RunConfig>& configs) {
  std::map<std::string, std::string> known;  // resolved config: name
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string& name = runs[i].point.name;
    const auto [other, is_new] = known.emplace(resolved_yaml(configs[i]), name);
    if (is_new) continue;
    refuse_command("the runs " + other->second + " and " + name +
                   " have the same config; leave out one of the values that mean the same");
  }
}

SweepData::SweepData(Opening opening, const DataCheck& check)
    : opening_(std::move(opening)), check_(check) {}

void SweepData::compare(const SweepRun& run, const RunConfig& config) {
  if (run.before == SweepProgress::none) return;
  opening_.division = recorded_division(run.folder);
  const bool by_name = opening_.division == Division::by_name;
  const std::string key = std::to_string(config.seed) + (by_name ? " by name\n" : " by index\n") +
                          config::to_yaml(*config.settled.find("data"));
  auto found = known_.find(key);
  if (found == known_.end()) {
    opening_.seed = static_cast<std::uint64_t>(config.seed);
    found = known_.emplace(key, open_facts(config, opening_)).first;
  }
  judge_changes(data_changes(recorded_facts(run.folder), found->second, check_.all_files),
                run.folder.string(),
                "give --out another folder for a sweep on them as they are now, or continue this "
                "one with --changed-data",
                check_, opening_.warn);
}

}  // namespace trainyard
