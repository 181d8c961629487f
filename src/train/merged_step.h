// What the two launches of an optimizer step take along of the work before and behind them.
#pragma once

#include <cstddef>
#include <optional>

#include "device/device_array.h"
#include "model/model.h"
#include "optim/packed_form.h"

namespace trainyard {

struct MergedStep {
  ResultSums results;                  // of the training program's batch
  DeviceArray<PackedForms> gradients;  // that the program leaves packed, by parameter
  std::size_t gradient_bytes = 0;      // of what these refer to
  DeviceArray<PackedForms> weights;    // the trained ones
};

/// Makes the training program leave its gradients packed. Nothing, and no change, where results or
/// a parameter's forms are too many for one launch.
[[nodiscard]] std::optional<MergedStep> merge_step(Model& model);

}  // namespace trainyard
