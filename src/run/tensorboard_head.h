// What TensorBoard shows of a run beside its curves.
#pragma once

#include <cstdint>
#include <string>

#include "report/tensorboard_sink.h"
#include "run/session/session.h"

namespace trainyard {

/// Its config, `yaml`, and, of images, the sheets of browse.h: the first samples of the epoch after
/// `epoch`, and those of validation.
[[nodiscard]] TensorboardHead tensorboard_head(Session& session, std::string yaml,
                                               std::int64_t epoch);

}  // namespace trainyard
