// `train generate`: text from a run's weights.
#pragma once

#include "run/session/session_device.h"
#include "run/stored_model.h"
#include "run/text_generator.h"

namespace trainyard {

/// Texts that the model writes with its stored weights. Opens the run's data. Of the request's
/// prompt only the text matters; `choice.warn` gets a line if it has unknown tokens, and one if it
/// is too short for a network that cannot do with less. Throws as TextGenerator and read_prompt();
/// Error{checkpoint} for weights of another network, or data with another vocabulary than the
/// run's.
[[nodiscard]] GeneratedTexts generate_from(const StoredModel& stored, const DeviceChoice& choice,
                                           GenerateRequest request);

}  // namespace trainyard
