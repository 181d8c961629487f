// The look at the GPUs.
#pragma once

#include "device/gpu_survey.h"

namespace trainyard::cuda {

/// Driver, runtime and visible GPUs. A machine without driver or GPU is a finding, not an error.
[[nodiscard]] GpuSurvey survey();

}  // namespace trainyard::cuda
