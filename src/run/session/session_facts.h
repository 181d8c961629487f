// What is said of a session to people: at its start, and where it stands.
#pragma once

#include "report/epoch_line.h"
#include "run/session/session.h"
#include "train/training_state.h"

namespace trainyard {

/// What the session itself knows: without run, init, judged and resumed.
[[nodiscard]] Banner banner_of(Session& session);

[[nodiscard]] RunPosition place_of(const Session& session, const TrainingState& state);

}  // namespace trainyard
