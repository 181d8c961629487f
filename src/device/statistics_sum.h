// Sums over the replicas of a run, as executors need them.
#pragma once

#include <cstdint>

namespace trainyard {

/// Replicas that compute the same steps on batches of the same size. Every replica calls sum() in
/// the same order with the same counts.
class StatisticsSum {
 public:
  virtual ~StatisticsSum() = default;
  [[nodiscard]] virtual int replicas() const = 0;
  /// Puts on: `count` values in memory of the device, summed over all replicas in place, equal bits
  /// on every replica. In the order of the queue that the device's executors run on. Throws
  /// Error{device} if a replica is lost.
  virtual void sum(double* values, std::int64_t count) = 0;
};

}  // namespace trainyard
