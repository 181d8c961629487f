// What a run asks of its trainer.
#pragma once

#include "run/run_start.h"
#include "run/session/session.h"
#include "train/trainer.h"

namespace trainyard {

/// The options by the run file. `eager`: check every tensor of every step.
[[nodiscard]] TrainerOptions trainer_options(const Session& session, const StartPoint& from,
                                             bool eager);

}  // namespace trainyard
