// The survey of the machine's GPUs.
#pragma once

#include <string>

#include "device/gpu_survey.h"

namespace trainyard::cuda {

/// Driver, runtime and visible GPUs. A machine without driver or GPU is a finding, not an error.
[[nodiscard]] GpuSurvey survey();
/// The PCI bus id of the visible GPU `ordinal`, "0000:17:00.0", its name in NVML. Creates no
/// context. Throws Error{device}.
[[nodiscard]] std::string bus_of(int ordinal);

}  // namespace trainyard::cuda
