// Recordings whose launches note when they run.
#pragma once

#include <functional>
#include <memory>

#include "backend/backend.h"

namespace trainyard::cuda {

/// As Backend::record_timed().
[[nodiscard]] std::unique_ptr<TimedRecording> record_timed(Device& device, Queue& queue,
                                                           const std::function<void()>& work);

}  // namespace trainyard::cuda
