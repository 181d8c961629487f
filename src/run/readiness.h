// Whether a run can start: the checks of `train` before step 1, all those of `train check`, and
// warnings of what is hardly meant.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "data/sets/dataset.h"
#include "graph/graph.h"
#include "optim/schedule.h"
#include "ranks/rank_group.h"
#include "run/run_start.h"
#include "run/session/session.h"
#include "run/training_run.h"

namespace trainyard {

/// A warm-up longer than the run, or a schedule whose last part the run does not reach; "" for
/// others. `schedule` may be null.
[[nodiscard]] std::string schedule_warning(const Schedule* schedule, const BatchNumbers& batch);

/// Samples with values far from 1, such as 0 to 255, which neither `preprocess` nor a first layer
/// of `network` scales; "" for others. Looks at a few samples.
[[nodiscard]] std::string scale_warning(const DataConfig& config, const Dataset& train,
                                        const Graph& network);

/// A dense layer that reads a softmax; "" for none.
[[nodiscard]] std::string softmax_warning(const Graph& network);

/// A new run with its initial weights, the folder that it would get, and the warnings about it.
struct ReadyRun {
  std::unique_ptr<Session> session;
  fs::path folder;
  std::vector<std::string> warnings;
};

/// All checks of a new run before step 1: those below, which `train` makes too, and those of
/// NewRun, which fills `request.init`. Leaves nothing on the disk. Throws Error of any kind.
[[nodiscard]] ReadyRun ready_run(TrainingRequest& request, RankGroup& ranks, const Disk& disk);

/// The checks that are possible before the data are opened: of plots and, on rank 0 only, of the
/// folder. Throws Error{command_line} or Error{disk}.
void require_request(const TrainingRequest& request, const RunStart& start, const RankGroup& ranks,
                     const Disk& disk);
/// Throws Error{device} unless all ranks would train the same model from `step` on. `config`: the
/// run's, typed_yaml().
void require_agreement(Session& session, RankGroup& ranks, const std::string& config,
                       std::int64_t step);
/// Returns the warnings about a run that can start. Throws Error{disk} if there is no room for a
/// checkpoint.
[[nodiscard]] std::vector<std::string> require_room(Session& session,
                                                    const TrainingRequest& request,
                                                    const RunStart& start, const Disk& disk);
/// The loss of the first batch of which a sample counts, forward and backward without an update;
/// the batches before it would be steps that change nothing. Throws Error{diverged} if a tensor or
/// the loss is not finite, or no sample of the first 100 batches counts.
[[nodiscard]] double loss_of_one_batch(Session& session, RankGroup& ranks);

}  // namespace trainyard
