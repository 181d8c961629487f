// Descriptions of the GPUs found, for people and for programs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu_survey.h"
#include "formats/json.h"

namespace trainyard {

/// Name and basic properties, in one line.
[[nodiscard]] std::string gpu_text(const GpuFinding& gpu);
/// Settings and clocks, in one line.
[[nodiscard]] std::string condition_text(const GpuFinding& gpu);
/// How the GPUs reach each other's memory, by NVLink, by PCIe or through the host: a row per GPU
/// below a row of ordinals, each with its heading. None for a single GPU.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> link_rows(
    std::span<const GpuFinding> gpus);
/// Conditions of the GPUs that slow down training or may end it, each with how to fix it.
[[nodiscard]] std::vector<std::string> gpu_notes(std::span<const GpuFinding> gpus);
[[nodiscard]] Json gpu_json(const GpuFinding& gpu);

}  // namespace trainyard
