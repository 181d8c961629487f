// A rank's place among the processors of its host.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "device/gpu_survey.h"

namespace trainyard {

/// Keeps this thread and those that it starts, and so the memory from which batches cross, on the
/// NUMA node of the GPU. Warns, and changes nothing, where this process cannot be there. `root`
/// holds sys.
void stay_near(const GpuFinding& gpu, const std::function<void(const std::string&)>& warn,
               const std::filesystem::path& root = "/");

}  // namespace trainyard
