// Sums over the replicas of a run, for executors.
#pragma once

#include <cstdint>

namespace trainyard {

/// Replicas that compute the same steps on batches of the same size. Every replica calls sum() in
/// the same order with the same counts.
class StatisticsSum {
 public:
  virtual ~StatisticsSum() = default;
  [[nodiscard]] virtual int replicas() const = 0;
  /// Enqueues: sums `count` values in device memory over all replicas in place, bit-identical on
  /// every replica. In the order of the queue that the device's executors run on. Throws
  /// Error{device} if a replica is lost.
  virtual void sum(double* values, std::int64_t count) = 0;
};

}  // namespace trainyard
