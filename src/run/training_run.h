// A training run from its config to its folder: what `train` and `train resume` do.
//
// The folder run puts the others together: config/ is the run file, session/ builds device, data
// and model, and this folder is the run itself with its folder, resume and status. A run starts as
// NewRun or as ResumedRun, and from then on is the same. Speed is measured in bench, text for
// people is made in report.
//
// The types around a run:
//
//   asked        TrainingRequest   config, flags, and what of the process a run needs
//   in progress  TrainingRun       one rank from start to end; the host of its Trainer
//                RunStart          how it begins: NewRun or ResumedRun; texts of its config, its id
//                Session           its device, data, model and training step
//                RunKeeper         rank 0: what it writes into its RunFolder
//                RunFolder         the lock, the names, whole files
//   reported     RunPhase          what it does now; RunState: whether it has ended, and how
//                RunProgress       epoch, step, loss and speed now
//                RunStatus         status.json: these three, best value, checkpoint
//                RunEnd            how run_training() ended: the last line, the exit code
//   afterwards   RunHealth         a folder and its process as seen from outside, and the verdict
//                RecordedRun       all that a folder tells, for comparisons and plots
//                StoredModel       its weights with what is needed to use them
#pragma once

#include "base/atomic_file.h"
#include "base/clock.h"
#include "ranks/rank_group.h"
#include "ranks/stop_request.h"
#include "report/epoch_line.h"
#include "run/training_request.h"

namespace trainyard {

/// Trains to the end or to a reason to stop, as one of the ranks; rank 0 alone writes the folder.
/// Throws Error of any kind; the folder's status.json then says so. All ranks throw the same error:
/// the first one, on whichever rank it occurred. The signal that interrupted the run may have
/// arrived on any rank. All references outlive the call.
[[nodiscard]] RunEnd run_training(TrainingRequest request, const Disk& disk, const Clock& clock,
                                  const StopSignals& signals, RankGroup& ranks);

}  // namespace trainyard
