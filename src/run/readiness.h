// Whether a run can start: the checks of `train` before step 1, and all those of `train check`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "run/session/session.h"
#include "run/training_run.h"
#include "train/rank_group.h"

namespace trainyard {

/// A new run with its initial weights, and the warnings about it.
struct ReadyRun {
  std::unique_ptr<Session> session;
  std::vector<std::string> warnings;
};

/// All checks of a new run before step 1: require_request(), first_session() and require_start(),
/// which `train` calls too. Moves the config out of `request`; leaves nothing on the disk. Throws
/// Error of any kind.
[[nodiscard]] ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk);

/// The checks that are possible before the data are opened: of plots and, on rank 0 only, of the
/// folder. Throws Error{command_line} or Error{disk}.
void require_request(const TrainingRequest& request, const RankGroup& ranks, const Disk& disk);
/// The session of a new run with its initial weights. Moves the config out of `request`. Throws
/// Error of device, config, data, memory or checkpoint.
[[nodiscard]] std::unique_ptr<Session> first_session(TrainingRequest& request, RankGroup& ranks);
/// The checks of a session that is to train from `step` on, perhaps in a resumed run: whether the
/// ranks would train different models, and room on the disk. `resolved`: the run's config, see
/// resolved_yaml(). Returns warnings, on rank 0 only. Throws Error{device} or Error{disk}.
[[nodiscard]] std::vector<std::string> require_start(Session& session,
                                                     const TrainingRequest& request,
                                                     RankGroup& ranks, const std::string& resolved,
                                                     std::int64_t step, const Disk& disk);

inline constexpr const char* kRunsFolder = "runs";
/// The folder of a run, existing or planned: "runs/NAME" for one that gets the next free number.
[[nodiscard]] std::filesystem::path planned_folder(const TrainingRequest& request,
                                                   const std::string& name);

}  // namespace trainyard
