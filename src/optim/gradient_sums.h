// The sum of gradients over the micro-batches of a step, of which some may have no sample that
// counts, and gradients in 16 bits for the all-reduce.
#pragma once

#include <cstdint>

#include "base/half.h"
#include "base/host_device.h"
#include "tensor/dtype.h"

namespace trainyard {

/// What a step sums over, in device memory. A sample counts unless its weight is 0; a micro-batch
/// of which no sample counts on any rank is left out of the sums of gradients and statistics.
struct MicroBatches {
  double samples = 0;      // samples that count, up to the last micro-batch
  std::int64_t count = 0;  // micro-batches that count, up to the last
  double replicas = 1;     // batches in these, over all ranks: whose statistics are summed
  bool counts = true;      // the last micro-batch does
};

/// Decides whether the micro-batch counts that has just been computed. Launch with one element.
struct JudgeMicroBatch {
  MicroBatches* of_step;
  const double* samples;  // the step's samples so far that count
  double replicas;        // batches of a micro-batch
  bool first;             // first of the step

  TY_HD void operator()(std::int64_t /*unused*/) const {
    const MicroBatches before = first ? MicroBatches{.replicas = 0} : *of_step;
    const bool counts = *samples > before.samples;
    *of_step = {.samples = *samples,
                .count = before.count + (counts ? 1 : 0),
                .replicas = before.replicas + (counts ? replicas : 0),
                .counts = counts};
  }
};

/// sum = gradients for the first micro-batch, sum += gradients for the others. With MicroBatches
/// those that do not count are left out, and the first is the first that does.
template <class T>
struct AddGradients {
  T* sum;
  const T* gradients;
  bool first;
  const MicroBatches* of_step = nullptr;

  TY_HD void operator()(std::int64_t i) const {
    if (of_step != nullptr && !of_step->counts) return;
    const bool begins = of_step != nullptr ? of_step->count == 1 : first;
    sum[i] = begins ? gradients[i] : sum[i] + gradients[i];
  }
};

/// to = from, rounded once.
template <class T>
struct RoundToHalf {
  T* to;
  const float* from;

  TY_HD void operator()(std::int64_t i) const { to[i] = T(from[i]); }
};

/// to = from.
template <class T>
struct FromHalf {
  float* to;
  const T* from;

  TY_HD void operator()(std::int64_t i) const { to[i] = static_cast<float>(from[i]); }
};

/// Calls f with a zero of a 16-bit type: bf16 or f16.
template <class F>
void with_half(DType type, const F& f) {
  type == DType::bf16 ? f(BFloat16{}) : f(Float16{});
}

}  // namespace trainyard
