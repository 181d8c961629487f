#include "run/resumed_run.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "checkpoint/run_identity.h"
#include "report/status.h"
#include "run/config/resolved_config.h"
#include "run/config_changes.h"
#include "run/initial_weights.h"
#include "run/reproduction.h"
#include "run/session/session.h"
#include "run/snapshot.h"

namespace trainyard {

namespace {

/// Threads asked for, or the run's, up to the cores: no result depends on their number.
int threads_here(const RunConfig& run, int requested) {
  if (requested > 0) return requested;
  return static_cast<int>(std::min<std::int64_t>(run.threads, available_cores()));
}

std::string batch_warning(std::int64_t saved, std::int64_t now) {
  if (saved == now) return "";
  return "the run was saved with a global batch of " + std::to_string(saved) +
         " and continues with " + std::to_string(now) +
         ": it keeps its position in the epoch and in the schedule, but its results differ from "
         "those of an uninterrupted run; 'batch: {total: ...}' is the same on any number of ranks";
}

/// Throws Error{data} for classes that are no longer those by which the run numbers its labels.
void require_same_classes(const fs::path& run, const SamplesRecord& now) {
  const std::optional<SamplesRecord> before = read_samples(run);
  if (!before || before->class_names.empty() || before->class_names == now.class_names) return;
  const auto text = [](const std::vector<std::string>& names) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
    return all.empty() ? std::string("without names") : all;
  };
  throw data_error("the classes of the run " + run.string() + " are " + text(before->class_names) +
                   ", those of the training split are now " + text(now.class_names) +
                   "; a run keeps its classes: begin another one with --init " + run.string());
}

/// Throws Error{config} for a run with checkpoints, which would then hold old weights, and for one
/// that is complete without them: it could only begin anew.
void require_none(const fs::path& run, bool has_checkpoint) {
  if (has_checkpoint) {
    throw config_error("the run " + run.string() +
                       " has checkpoints: 'checkpoint' can be turned off for a new run only");
  }
  const std::optional<RunStatus> status = read_status(run / "status.json");
  if (!status || status->state != RunState::completed) return;
  throw config_error("the run " + run.string() +
                     " is complete and, as 'checkpoint' is off, has nothing to continue from; "
                     "begin another one with --init " +
                     run.string());
}

constexpr const char* kResumes = "resumes";
constexpr const char* kDataChanges = "data_changes";

Json json_of(const ResumeCircumstances& now) {
  return {{"ranks", now.ranks}, {"global_batch", now.global_batch}, {"version", now.version}};
}

/// Circumstances of the newest start in `run`; what it does not tell is as it is `now`.
Json last_circumstances(const Json& run, const Json& now) {
  const Json resumes = run.value(kResumes, Json::array());
  const Json& last = resumes.empty() ? run : resumes.back();
  Json known = now;
  for (auto& [key, value] : known.items()) {
    if (last.contains(key)) value = last[key];
  }
  return known;
}

void add(Json& run, const char* list, const ResumedOn& on, Json entry) {
  entry["epoch"] = on.epoch;
  entry["step"] = on.step;
  run[list].push_back(std::move(entry));
}

}  // namespace

ResumedRun::ResumedRun(const TrainingRequest& request)
    : RunStart(request, recorded_id(request.resume / "run.json"),
               recorded_init_hash(request.resume / "run.json")) {}

void ResumedRun::require_folder(const Disk& /*disk*/) const {}

fs::path ResumedRun::image() const {
  if (!request_.output.empty()) return request_.output;
  const std::optional<Json> run = run_record(record());
  const Json recorded = run ? run->value(kImage, Json()) : Json();
  if (!recorded.is_string()) return {};
  fs::path path = recorded.get<std::string>();
  std::error_code ignored;
  if (!fs::is_directory(path.parent_path(), ignored)) path.clear();
  return path;
}

RunFolder ResumedRun::open_folder(const Disk& disk) const {
  return RunFolder::open(disk, request_.resume);
}

void ResumedRun::look_at(const SessionData& data, const Warn& warn) {
  data_ = facts_of(data);
  samples_ = record_of(*data.train);
  data_changes_ = data_changes(recorded_facts(request_.resume), data_, request_.check.all_files);
  judge_changes(data_changes_, request_.resume.string(),
                "continue on them as they are now with --changed-data", request_.check, warn);
  if (!begins_) require_same_classes(request_.resume, samples_);
}

std::unique_ptr<Session> ResumedRun::make_session(RankGroup& ranks, const Warn& warn) {
  DeviceChoice device = request_.device;
  if (ranks.rank() == 0) device.opened = [&](const SessionData& data) { look_at(data, warn); };
  device.begins(RunPhase::loading);
  checkpoint_ = load_newest_checkpoint(request_.resume / "checkpoints");
  if (!request_.config.checkpoint) require_none(request_.resume, checkpoint_.has_value());
  std::optional<Statistics> known;
  if (checkpoint_) {
    for (const std::string& warning : checkpoint_->warnings) warn(warning);
    id_ = id_of_own(*checkpoint_, id_, request_.resume);
    known = read_statistics(request_.resume, statistics_hash_of(*checkpoint_));
    device.form = read_form(request_.resume);
    device.threads = threads_here(request_.config, device.threads);
  } else {
    begins_ = true;
    warn("no checkpoint was ever written in " + request_.resume.string() + ": starting at step 0");
  }
  device.division = recorded_division(request_.resume);
  device.choices = choices_of(record());
  auto session =
      std::make_unique<Session>(request_.config, device, known ? &*known : nullptr, ranks);
  circumstances_ = ResumeCircumstances{.ranks = session->batch().ranks,
                                       .global_batch = session->batch().global,
                                       .version = request_.version};
  require_vocabulary_of_run(request_.resume, session->data().train->vocabulary());
  for (const std::string& difference :
       reproduction_differences(record(), reproduction(session->device()))) {
    warn(difference);
  }
  return session;
}

TrainingState ResumedRun::fill(Session& session, const Warn& warn) {
  request_.device.begins(RunPhase::loading);
  const std::optional<LoadedCheckpoint> checkpoint = std::exchange(checkpoint_, std::nullopt);
  if (!checkpoint) {
    session.initialize();
    if (auto init = initial_weights_of_run(record())) initialize_from(session.model(), *init);
    return {};
  }
  const TrainingState state = restore(session, *checkpoint);
  const RunConfig before = read_run_config(request_.resume / "config.yaml", {});
  unchanged_ = config_differences(before, request_.config).empty();
  resumed_ = reached_by(session, state);
  resumed_->checkpoint = checkpoint->path.string();
  const std::string warning = batch_warning(global_batch_of(*checkpoint), session.batch().global);
  if (!warning.empty()) warn(warning);
  newest_ = {checkpoint->path.filename().string(), checkpoint->epoch, checkpoint->step};
  const std::int64_t best = state.best_epoch;
  if (best > 0) best_ = checkpoint_after_epoch(checkpoint->path.parent_path(), best);
  if (best > 0 && !best_) {
    warn("the checkpoint of the best epoch so far, " + std::to_string(best) +
         ", is missing or damaged: there are no best weights until a later epoch is better");
  }
  return state;
}

void ResumedRun::write_record(const RunFolder& folder, Session& session) const {
  if (begins_) write_statistics(folder, session.data().statistics);
  write_samples(folder, *session.data().train);
  write_vocabulary(folder, session.data().train->vocabulary());
  if (newest_) {
    settle_checkpoints(folder.disk(), folder.checkpoints(), *newest_, best_,
                       session.config().checkpoint.value_or(CheckpointConfig{}).keep);
  }
  folder.write("network.txt", config().network);
  folder.add_command(request_.command);
}

std::string ResumedRun::write_changes(const RunFolder& folder, const TrainingState& state) const {
  const RunConfig before = read_run_config(folder.file("config.yaml"), {});
  const ConfigChange change{.config_yaml = config().resolved,
                            .config_hash = config().hash,
                            .differences = config_differences(before, request_.config),
                            .paths = typed_paths(request_.config.settled),
                            .command = request_.command,
                            .epoch = state.epoch + 1,
                            .step = state.step + 1};
  const std::string warning = change.differences.empty() ? "" : record_change(folder, change);
  if (!circumstances_) return warning;
  record_resume(folder, *circumstances_,
                {.data = data_,
                 .changes = data_changes_,
                 .command = request_.command,
                 .epoch = change.epoch,
                 .step = change.step});
  if (!data_changes_.empty()) replace_samples(folder, samples_);
  return warning;
}

void record_resume(const RunFolder& folder, const ResumeCircumstances& now, const ResumedOn& on) {
  std::optional<Json> run = run_record(folder.file("run.json"));
  if (!run) return;
  const Json before = *run;
  const Json circumstances = json_of(now);
  if (last_circumstances(*run, circumstances) != circumstances) {
    add(*run, kResumes, on, circumstances);
  }
  if (!on.changes.empty()) {
    Json former = {{"train", run->value("train_fingerprint", "")},
                   {"val", run->value("val_fingerprint", "")}};
    add(*run, kDataChanges, on,
        {{"command", on.command}, {"changes", on.changes}, {"former", std::move(former)}});
    put_facts(on.data, *run);
  }
  if (*run != before) folder.write("run.json", json_text(*run));
}

bool trained_with(const fs::path& folder, std::int64_t global_batch) {
  const std::optional<Json> run = run_record(folder / "run.json");
  if (!run) return true;
  const Json wanted = global_batch;
  const auto had_it = [&](const Json& start) {
    return start.value("global_batch", wanted) == wanted;
  };
  const Json resumes = run->value(kResumes, Json::array());
  return had_it(*run) && std::ranges::all_of(resumes, had_it);
}

}  // namespace trainyard
