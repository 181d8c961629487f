// What a run asks of its trainer.
#pragma once

#include "run/run_start.h"
#include "run/session/session.h"
#include "train/trainer.h"

namespace trainyard {

/// The options by the run file. `unchanged`: resumed with the run's own config. `eager`: check
/// every tensor of every step.
[[nodiscard]] TrainerOptions trainer_options(const Session& session, bool unchanged, bool eager);

}  // namespace trainyard
