// status.json: where a run stands, for scripts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "report/progress.h"

namespace trainyard {

enum class RunState {
  starting,
  running,
  saving,
  completed,    // all epochs, early stop, or target reached
  stopped,      // by its own limit, saved
  interrupted,  // by a signal, saved
  failed,
  diverged,
};

/// "completed", as in the file.
[[nodiscard]] std::string_view name_of(RunState state);

struct BestValue {
  std::string metric;  // "val_accuracy"
  double value = 0;
  std::int64_t epoch = 0;
};

/// What status.json says. Times are UTC seconds since 1970.
struct RunStatus {
  RunState state = RunState::starting;
  std::optional<int> exit_code;  // empty while the run lives
  std::string message;
  std::int64_t pid = 0;
  std::string host;
  std::int64_t started = 0;
  std::int64_t updated = 0;  // when the file was written
  RunProgress at;
  std::int64_t epochs = 0;
  std::int64_t steps_per_epoch = 0;
  std::optional<BestValue> best;
  std::string last_checkpoint;
  std::string resume_command;
  std::string config_hash;
};

/// What the run does: the name of its phase, or that of its state once it has ended.
[[nodiscard]] std::string_view phase_of(const RunStatus& status);

/// The file's text. What is not known, and a loss that is no number, is null.
[[nodiscard]] std::string status_text(const RunStatus& status);

/// Reads a status.json, of an older version too: what it lacks is not known. Empty if `path` is
/// missing or no status.json.
[[nodiscard]] std::optional<RunStatus> read_status(const std::filesystem::path& path);

}  // namespace trainyard
