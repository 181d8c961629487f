#include "report/status.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "formats/json.h"

namespace trainyard {
namespace {

/// As in the watchdog of several ranks (ranks/rendezvous/watchdog_board.h).
constexpr double kHangSteps = 20;

/// In the order of RunPhase.
constexpr std::array<std::string_view, 7> kPhases = {
    "starting", "reading_data", "building", "loading", "training", "evaluating", "saving"};
static_assert(kPhases.size() == static_cast<std::size_t>(RunPhase::saving) + 1);

constexpr int kStatusVersion = 1;
constexpr std::uint64_t kMostStatusBytes = 1u << 20;

Json best_json(const std::optional<BestValue>& best) {
  if (!best) return nullptr;
  return {{"metric", best->metric}, {"value", number_or_null(best->value)}, {"epoch", best->epoch}};
}

Json status_json(const RunStatus& status) {
  Json json;
  json["schema_version"] = kStatusVersion;
  json["state"] = std::string(name_of(status.state));
  json["phase"] = std::string(phase_of(status));
  json["exit_code"] = status.exit_code ? Json(*status.exit_code) : Json(nullptr);
  json["message"] = status.message;
  json["pid"] = status.pid;
  json["host"] = status.host;
  json["started"] = utc_text(status.started);
  json["updated"] = utc_text(status.updated);
  json["progressed"] = utc_text(status.at.progressed);
  json["hang_after_seconds"] = static_cast<std::int64_t>(std::ceil(status.at.hang_after_seconds));
  json["epoch"] = status.at.epoch;
  json["epochs"] = status.epochs;
  json["step"] = status.at.step;
  json["steps"] = status.steps;
  json["steps_per_epoch"] = status.steps_per_epoch;
  json["loss"] = number_or_null(status.at.loss);
  json["best"] = best_json(status.best);
  json["last_checkpoint"] =
      status.last_checkpoint.empty() ? Json(nullptr) : Json(status.last_checkpoint);
  json["eta_seconds"] = number_or_null(status.at.eta_seconds);
  json["images_per_s"] = number_or_null(status.at.images_per_s);
  json["unit"] = status.unit;
  json["data_wait_percent"] = number_or_null(status.at.data_wait_percent);
  json["resume_command"] = status.resume_command;
  json["config_hash"] = status.config_hash;
  return json;
}

/// In the order of RunState.
constexpr std::array<std::string_view, 8> kStates = {
    "starting", "running", "saving", "completed", "stopped", "interrupted", "failed", "diverged"};
static_assert(kStates.size() == static_cast<std::size_t>(RunState::diverged) + 1);

/// The choice of this name, of those from 0 to `last`.
template <typename Choice>
std::optional<Choice> named(const std::string& name, Choice last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name_of(static_cast<Choice>(i)) == name) return static_cast<Choice>(i);
  }
  return std::nullopt;
}

/// The value under `key`; empty if it is missing or null.
template <typename Value>
std::optional<Value> known(const Json& json, const char* key) {
  if (!json.contains(key) || json.at(key).is_null()) return std::nullopt;
  return json.at(key).get<Value>();
}

std::int64_t time_at(const Json& json, const char* key) {
  return utc_seconds_of(known<std::string>(json, key).value_or("")).value_or(0);
}

RunProgress progress_of(const Json& json) {
  return {.phase = named(known<std::string>(json, "phase").value_or(""), RunPhase::saving)
                       .value_or(RunPhase::starting),
          .progressed = time_at(json, "progressed"),
          .hang_after_seconds = known<double>(json, "hang_after_seconds").value_or(0),
          .epoch = json.at("epoch").get<std::int64_t>(),
          .step = known<std::int64_t>(json, "step").value_or(0),
          .loss = known<double>(json, "loss"),
          .eta_seconds = known<double>(json, "eta_seconds"),
          .images_per_s = known<double>(json, "images_per_s"),
          .data_wait_percent = known<double>(json, "data_wait_percent")};
}

std::optional<BestValue> best_of(const Json& json) {
  const auto best = known<Json>(json, "best");
  if (!best) return std::nullopt;
  return BestValue{.metric = best->at("metric").get<std::string>(),
                   .value = known<double>(*best, "value").value_or(std::nan("")),
                   .epoch = best->at("epoch").get<std::int64_t>()};
}

std::optional<RunStatus> status_of(const Json& json) {
  const auto state = named(json.at("state").get<std::string>(), RunState::diverged);
  if (!state) return std::nullopt;
  const auto epochs = json.at("epochs").get<std::int64_t>();
  const auto per_epoch = known<std::int64_t>(json, "steps_per_epoch").value_or(0);
  return RunStatus{.state = *state,
                   .exit_code = known<int>(json, "exit_code"),
                   .message = known<std::string>(json, "message").value_or(""),
                   .pid = known<std::int64_t>(json, "pid").value_or(0),
                   .host = known<std::string>(json, "host").value_or(""),
                   .started = time_at(json, "started"),
                   .updated = time_at(json, "updated"),
                   .at = progress_of(json),
                   .epochs = epochs,
                   .steps = known<std::int64_t>(json, "steps").value_or(epochs * per_epoch),
                   .steps_per_epoch = per_epoch,
                   .unit = known<std::string>(json, "unit").value_or("img"),
                   .best = best_of(json),
                   .last_checkpoint = known<std::string>(json, "last_checkpoint").value_or(""),
                   .resume_command = known<std::string>(json, "resume_command").value_or(""),
                   .config_hash = json.at("config_hash").get<std::string>()};
}

}  // namespace

std::string_view name_of(RunPhase phase) { return kPhases.at(static_cast<std::size_t>(phase)); }

ProgressNote::ProgressNote(const Clock& clock, const ProgressLimits& limits)
    : clock_(clock), limits_(limits) {
  begin(RunPhase::starting);
}

void ProgressNote::recall(const RunProgress& progress) {
  const std::lock_guard lock(mutex_);
  now_.epoch = progress.epoch;
  now_.step = progress.step;
  now_.loss = progress.loss;
}

void ProgressNote::start_training(std::int64_t epoch, std::int64_t step, std::int64_t steps) {
  const std::lock_guard lock(mutex_);
  now_.epoch = epoch;
  now_.step = first_step_ = step;
  steps_ = steps;
  began_ = clock_.seconds();
}

void ProgressNote::begin(RunPhase phase) {
  const std::lock_guard lock(mutex_);
  now_.phase = phase;
  mark();
}

void ProgressNote::on_step(const StepRow& row) {
  const std::lock_guard lock(mutex_);
  move_to(row.epoch - 1, row);
}

void ProgressNote::on_epoch(const EpochRow& row) {
  const std::lock_guard lock(mutex_);
  move_to(row.epoch, row);
}

void ProgressNote::end() {
  const std::lock_guard lock(mutex_);
  now_.eta_seconds.reset();
  mark();
}

RunProgress ProgressNote::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

double ProgressNote::limit(RunPhase phase) const {
  const bool trains = phase >= RunPhase::training && seconds_a_step_ > 0;
  return trains ? std::max(limits_.step, kHangSteps * seconds_a_step_) : limits_.first_step;
}

void ProgressNote::mark() {
  now_.progressed = clock_.utc_seconds();
  now_.hang_after_seconds = limit(now_.phase);
}

template <typename Row>
void ProgressNote::move_to(std::int64_t epoch, const Row& row) {
  now_.epoch = epoch;
  now_.step = row.step;
  now_.loss = row.loss;
  now_.images_per_s = row.images_per_s;
  now_.data_wait_percent = row.data_wait_percent;
  const std::int64_t done = row.step - first_step_;
  if (done > 0) {
    // Includes evaluations and saving so far, which recur.
    seconds_a_step_ = (clock_.seconds() - began_) / static_cast<double>(done);
    now_.eta_seconds =
        seconds_a_step_ * static_cast<double>(std::max<std::int64_t>(steps_ - row.step, 0));
  }
  mark();
}

std::string_view name_of(RunState state) { return kStates.at(static_cast<std::size_t>(state)); }

std::string_view phase_of(const RunStatus& status) {
  const bool lives = status.state <= RunState::saving;
  return lives ? name_of(status.at.phase) : name_of(status.state);
}

std::string status_text(const RunStatus& status) { return json_text(status_json(status)); }

std::optional<RunStatus> read_status(const fs::path& path) {
  try {
    return status_of(parse_json(read_text(path, ErrorKind::disk, kMostStatusBytes),
                                {path.string(), ErrorKind::disk}));
  } catch (const Error&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

StatusFile::StatusFile(const Disk& disk, const Clock& clock, const ProgressNote& progress,
                       fs::path path, std::chrono::milliseconds between)
    : disk_(disk), clock_(clock), progress_(progress), path_(std::move(path)), between_(between) {}

void StatusFile::write(const RunStatus& status) {
  const std::lock_guard lock(mutex_);
  status_ = status;
  replace();
  if (thread_.joinable() || status_.exit_code) return;
  thread_ = std::jthread([this](const std::stop_token& stop) { keep_up_to_date(stop); });
}

void StatusFile::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void StatusFile::replace() {
  status_.updated = clock_.utc_seconds();
  status_.at = progress_.now();
  disk_.replace_file(path_, status_text(status_));
}

void StatusFile::keep_up_to_date(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (true) {
    ended_.wait_for(lock, stop, between_, [] { return false; });
    if (stop.stop_requested() || status_.exit_code) return;
    try {
      replace();
    } catch (const std::exception&) {
      // If the disk cannot be written, the run ends when it saves; until then the file shows its
      // age.
    }
  }
}

}  // namespace trainyard
