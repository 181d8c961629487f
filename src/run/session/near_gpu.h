// Binds a rank to the processors of its host that are near its GPU.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "device/gpu_survey.h"

namespace trainyard {

/// Binds this thread and those that it starts, and so the memory that batches are copied from, to
/// the NUMA node of the GPU. Warns, and changes nothing, if this process cannot run there. `root`
/// contains sys.
void stay_near(const GpuFinding& gpu, const std::function<void(const std::string&)>& warn,
               const std::filesystem::path& root = "/");

}  // namespace trainyard
