// Micro-batches of a step, of which some may have no sample that counts.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace trainyard {

/// What a step sums over, in device memory. A sample counts unless its weight is 0; a micro-batch
/// of which no sample counts on any rank is left out of the sums of gradients and statistics.
struct MicroBatches {
  double samples = 0;      // those that count, up to the last micro-batch
  std::int64_t count = 0;  // micro-batches that count, up to the last
  double replicas = 1;     // batches in these, over all ranks: whose statistics are summed
  bool counts = true;      // the last micro-batch does
};

/// Decides whether the micro-batch counts that has just been computed. Launch with one element.
struct JudgeMicroBatch {
  MicroBatches* of_step;
  const double* samples;  // the step's samples so far that count
  double replicas;        // batches of a micro-batch
  bool first;             // of the step

  TY_HD void operator()(std::int64_t /*unused*/) const {
    const MicroBatches before = first ? MicroBatches{.replicas = 0} : *of_step;
    const bool counts = *samples > before.samples;
    *of_step = {.samples = *samples,
                .count = before.count + (counts ? 1 : 0),
                .replicas = before.replicas + (counts ? replicas : 0),
                .counts = counts};
  }
};

}  // namespace trainyard
