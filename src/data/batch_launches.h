// What makes batches on a device, whatever the device.
#pragma once

#include <memory>

#include "data/gather.h"

namespace trainyard {

class BatchLaunches {
 public:
  virtual ~BatchLaunches() = default;
  /// Puts on GatherBatch for the whole of `images`, of any float type. Nothing allocates or waits,
  /// and all arguments are those of the launch for ever, so that it may be captured.
  virtual void gather(const GatherSource& from, const TensorView& images) const = 0;
};

[[nodiscard]] std::unique_ptr<BatchLaunches> make_cpu_batch_launches(int threads);

}  // namespace trainyard
