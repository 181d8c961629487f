// What is reported about a session: at its start, and its position.
#pragma once

#include "report/epoch_line.h"
#include "run/session/session.h"
#include "train/training_state.h"

namespace trainyard {

/// The part that the session itself knows: without run, init, judged and resumed.
[[nodiscard]] Banner banner_of(Session& session);

[[nodiscard]] Reached reached_by(const Session& session, const TrainingState& state);

}  // namespace trainyard
