// How the GPUs of a run's ranks come to sum.
#pragma once

#include <filesystem>
#include <string>

#include "backend/gpus.h"
#include "run/session/session.h"

namespace trainyard {

/// Where the GPU part found a library, by its name: "cuDNN".
[[nodiscard]] std::filesystem::path library_path(const UsableGpus& gpus, const std::string& name);

/// Makes the communicator among the GPUs of the ranks, in `session`, whose device is made, and a
/// queue of its own where it works by itself: NCCL, or ranks that share a GPU through the host.
/// Throws Error{device}.
void join_gpus(const DeviceChoice& choice, RankGroup& ranks, SessionDevice& session);

}  // namespace trainyard
