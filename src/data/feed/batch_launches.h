// Launches that make batches on a device, independent of the device.
#pragma once

#include <memory>

#include "data/augment/whitening.h"
#include "data/feed/gather.h"

namespace trainyard {

class BatchLaunches {
 public:
  virtual ~BatchLaunches() = default;
  /// Enqueues GatherBatch for all of `images`, of any float type, and `words`, of which there may
  /// be none. Nothing allocates or waits, and the launch's arguments never change, so that it can
  /// be captured.
  virtual void gather(const GatherSource& from, const TensorView& images,
                      const CopyWords& words) const = 0;
  /// Enqueues CopyWords alone.
  virtual void copy(const CopyWords& words) const = 0;
  /// Enqueues the program for `n` samples.
  virtual void run(const SampleProgram& program, std::int64_t n) const = 0;
  /// Enqueues WhitenBatch for `n` samples.
  virtual void whiten(const WhitenBatch& whitening, std::int64_t n) const = 0;
  /// Enqueues PlaceBatch for all of `images`, of any float type, and `words` as gather() does.
  virtual void place(const float* samples, const PairMix* mixes, const TensorView& images,
                     const CopyWords& words) const = 0;
};

[[nodiscard]] std::unique_ptr<BatchLaunches> make_cpu_batch_launches(int threads);

}  // namespace trainyard
