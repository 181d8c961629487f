// `train bench --suite NAME`: measures the rows of a suite, and shows the published rates beside
// ours.
#pragma once

#include <string>

#include "cli/bench_scaling.h"
#include "cli/verbs.h"

namespace trainyard::cli {

struct SuiteFlags {
  std::string name;
  std::string rows;  // configs, comma-separated; "": all
};

/// Measures each row on the CPU and for each count of --scaling (1,4,8 unless given): with so many
/// GPUs, or with --gpus 0 so many ranks on the CPU. A row without data, or for which the machine
/// lacks GPUs or memory, is reported with the reason. Returns the exit code: 0 if anything was
/// measured, else that of the first row.
int bench_suite(const SuiteFlags& suite, const ScalingFlags& flags, const Context& context);

}  // namespace trainyard::cli
