// Whether a run can begin: what `train` asks before step 1, and all that `train check` asks.
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

/// A new run with its first weights, and what to warn of.
struct ReadyRun {
  std::unique_ptr<Session> session;
  std::vector<std::string> warnings;
};

/// Everything that speaks against a new run before step 1: require_request(), first_session() and
/// require_start(), which `train` calls too. Takes the config out of `request`; leaves nothing on
/// the disk. Throws Error of any kind.
[[nodiscard]] ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk);

/// What can be told before the data are opened: of pictures, and by rank 0 alone of the folder.
/// Throws Error{command_line} or Error{disk}.
void require_request(const TrainingRequest& request, const RankGroup& ranks, const Disk& disk);
/// The session of a new run with its first weights. Takes the config out of `request`. Throws Error
/// of device, config, data, memory or checkpoint.
[[nodiscard]] std::unique_ptr<Session> first_session(TrainingRequest& request, RankGroup& ranks);
/// What can be told of a session that is to train from `step` on, perhaps of a run that is resumed:
/// ranks that would train different models, and room on the disk. `resolved`: the run's config, see
/// resolved_yaml(). Answers warnings, to rank 0 alone. Throws Error{device} or Error{disk}.
[[nodiscard]] std::vector<std::string> require_start(Session& session,
                                                     const TrainingRequest& request,
                                                     RankGroup& ranks, const std::string& resolved,
                                                     std::int64_t step, const Disk& disk);

inline constexpr const char* kRunsFolder = "runs";
/// Where the folder of a run will be or is: "runs/NAME" for one that gets the next free number.
[[nodiscard]] std::filesystem::path planned_folder(const TrainingRequest& request,
                                                   const std::string& name);

}  // namespace trainyard
