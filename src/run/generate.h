// `train generate`: text from a run's weights.
#pragma once

#include <filesystem>
#include <string>

#include "run/session/session_device.h"
#include "run/text_generator.h"

namespace trainyard {

/// Texts of the model of run folder `folder`, whose config is `run`, with the weights that
/// read_weights() finds there. Opens the run's data. Throws as TextGenerator; Error{checkpoint} for
/// weights of another network, or data with another vocabulary than the run's.
[[nodiscard]] GeneratedTexts generate_from(const std::filesystem::path& folder,
                                           const RunConfig& run, const DeviceChoice& choice,
                                           const GenerateRequest& request);

}  // namespace trainyard
