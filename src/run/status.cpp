#include "run/status.h"

#include <cmath>
#include <utility>

#include "base/clock.h"
#include "base/read_file.h"
#include "formats/json.h"

namespace trainyard {

namespace {

constexpr int kSchemaVersion = 1;
constexpr double kSecondsBetweenUpdates = 10;
constexpr std::uint64_t kMostStatusBytes = 1u << 20;

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json best_json(const std::optional<BestValue>& best) {
  if (!best) return nullptr;
  return {{"metric", best->metric}, {"value", number_or_null(best->value)}, {"epoch", best->epoch}};
}

Json status_json(const RunStatus& status) {
  Json json;
  json["schema_version"] = kSchemaVersion;
  json["state"] = std::string(name_of(status.state));
  json["exit_code"] = status.exit_code ? Json(*status.exit_code) : Json(nullptr);
  json["message"] = status.message;
  json["pid"] = status.pid;
  json["host"] = status.host;
  json["started"] = utc_text(status.started);
  json["updated"] = utc_text(status.updated);
  json["epoch"] = status.epoch;
  json["epochs"] = status.epochs;
  json["step"] = status.step;
  json["steps_per_epoch"] = status.steps_per_epoch;
  json["loss"] = number_or_null(status.loss);
  json["best"] = best_json(status.best);
  json["last_checkpoint"] =
      status.last_checkpoint.empty() ? Json(nullptr) : Json(status.last_checkpoint);
  json["eta_seconds"] = number_or_null(status.eta_seconds);
  json["images_per_s"] = number_or_null(status.images_per_s);
  json["resume_command"] = status.resume_command;
  json["config_hash"] = status.config_hash;
  return json;
}

}  // namespace

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::starting:
      return "starting";
    case RunState::running:
      return "running";
    case RunState::saving:
      return "saving";
    case RunState::completed:
      return "completed";
    case RunState::stopped:
      return "stopped";
    case RunState::interrupted:
      return "interrupted";
    case RunState::failed:
      return "failed";
    case RunState::diverged:
      return "diverged";
  }
  return "?";
}

std::string status_text(const RunStatus& status) { return json_text(status_json(status)); }

std::optional<StatusSummary> read_status(const std::filesystem::path& path) {
  try {
    const Json json = parse_json(read_text(path, ErrorKind::disk, kMostStatusBytes),
                                 {path.string(), ErrorKind::disk});
    return StatusSummary{.state = json.at("state").get<std::string>(),
                         .config_hash = json.at("config_hash").get<std::string>(),
                         .epoch = json.at("epoch").get<std::int64_t>(),
                         .epochs = json.at("epochs").get<std::int64_t>()};
  } catch (const Error&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

StatusFile::StatusFile(const Disk& disk, std::filesystem::path path)
    : disk_(disk), path_(std::move(path)) {}

void StatusFile::write(const RunStatus& status, double now_seconds) {
  disk_.replace_file(path_, status_text(status));
  written_at_ = now_seconds;
}

void StatusFile::update(const RunStatus& status, double now_seconds) {
  if (written_at_ && now_seconds - *written_at_ < kSecondsBetweenUpdates) return;
  write(status, now_seconds);
}

}  // namespace trainyard
