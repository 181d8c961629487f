// Joins the GPUs of a run's ranks for all-reduces.
#pragma once

#include <filesystem>
#include <string>

#include "backend/gpus.h"
#include "run/session/session_device.h"

namespace trainyard {

/// The path of a library that the GPU part found, by its name: "cuDNN".
[[nodiscard]] std::filesystem::path library_path(const UsableGpus& gpus, const std::string& name);

/// Makes the communicator among the GPUs of the ranks in `session`, whose device exists already:
/// NCCL, with a queue of its own, or ranks that share a GPU through the host. Throws Error{device}.
void join_gpus(const DeviceChoice& choice, RankGroup& ranks, SessionDevice& session);

}  // namespace trainyard
