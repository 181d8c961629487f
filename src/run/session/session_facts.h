// What a session reports about itself, at its start and how far it is, and what it asks of its
// trainer.
#pragma once

#include "report/epoch_line.h"
#include "run/session/session.h"
#include "train/trainer.h"
#include "train/training_state.h"

namespace trainyard {

/// The part that the session itself knows: without run, init, judged and resumed.
[[nodiscard]] Banner banner_of(Session& session);

[[nodiscard]] Reached reached_by(const Session& session, const TrainingState& state);

/// The options by the run file. `unchanged`: resumed with the run's own config. `eager`: check
/// every tensor of every step.
[[nodiscard]] TrainerOptions trainer_options(const Session& session, bool unchanged, bool eager);

}  // namespace trainyard
