// What was found of GPUs, for people and for programs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/gpu_survey.h"
#include "formats/json.h"

namespace trainyard {

/// What it is, in one line.
[[nodiscard]] std::string gpu_text(const GpuFinding& gpu);
/// How it is set and how fast it runs, in one line.
[[nodiscard]] std::string condition_text(const GpuFinding& gpu);
/// How each reaches each other's memory, by NVLink, by PCIe or through the host: a row a GPU below
/// one of ordinals, each with what it is about. None for a single GPU.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> link_rows(
    std::span<const GpuFinding> gpus);
/// What of them makes training slow or may end it, each with how to mend it.
[[nodiscard]] std::vector<std::string> gpu_notes(std::span<const GpuFinding> gpus);
[[nodiscard]] Json gpu_json(const GpuFinding& gpu);

}  // namespace trainyard
