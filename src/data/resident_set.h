// A data set that stays on a device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/batch_launches.h"
#include "data/dataset.h"
#include "data/pipeline.h"
#include "device/device_array.h"

namespace trainyard {

/// The images of a set as bytes on a device, with what the preprocessing subtracts and divides by.
class ResidentSet {
 public:
  /// `pipeline` is prepared. What is not fit for it (see fault()) is our bug; the launches must
  /// outlive the set. Throws Error{memory}.
  ResidentSet(Device& device, Queue& queue, const BatchLaunches& launches, const Dataset& set,
              const Pipeline& pipeline);

  /// "" or why `set` cannot stay on a device: it keeps no bytes, or what is done to its samples
  /// has no form there.
  [[nodiscard]] static std::string fault(const Dataset& set, const Pipeline& pipeline);

  /// Puts on: the samples of a batch to `images` ([n, c, h, w] in any layout). `sample_index` [n]
  /// and `spatial` [n, Pipeline::spatial_steps()] lie on the device.
  void gather(const std::int64_t* sample_index, const SpatialStep* spatial,
              const TensorView& images) const;

 private:
  const BatchLaunches& launches_;
  DeviceArray<std::uint8_t> bytes_;
  std::vector<DeviceArray<float>> values_;  // of the preprocessing steps
  GatherSource source_;
};

}  // namespace trainyard
