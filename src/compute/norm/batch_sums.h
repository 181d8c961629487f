// Sums over the batch for each channel of a batch norm, of one replica or of all: forward of x and
// x * x, backward of dy and dy * (x - mean).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/host_device.h"
#include "compute/executor.h"
#include "device/device.h"
#include "launcher/pairwise.h"
#include "ops/bn.h"

namespace trainyard {

struct Moments {
  double mean;
  double variance;  // biased; at least 0, or NaN
};
/// Moments of `count` values x with these sums of x - pivot and of its square. With a pivot among
/// the values or their means nothing cancels: its distance from the mean is at most sqrt(count)
/// deviations.
TY_HD Moments moments_of(const PairSum& sums, double count, double pivot) {
  const double shift = sums.first / count;
  const double around = sums.second / count - shift * shift;
  return {pivot + shift, around < 0 ? 0 : around};
}
/// The sums around a pivot that is `shift` below that of `sums` of `count` values: the merge of
/// parts with pivots of their own (Chan, Golub and LeVeque 1983), which are added once they have
/// one.
TY_HD PairSum moved_sums(const PairSum& sums, double count, double shift) {
  return {sums.first + count * shift, sums.second + shift * (2 * sums.first + count * shift)};
}

/// The part of a batch norm that spans all replicas: does nothing unless the op has `sync`, the
/// pass sums over the batch, and there are several replicas.
class SyncedBatch {
 public:
  explicit SyncedBatch(const StepDescription& step)
      : sum_(joins(step) ? step.statistics_sum : nullptr),
        fixed_(op_as<BnOp>(step).values().fixed) {}

  [[nodiscard]] bool joined() const { return sum_ != nullptr; }
  [[nodiscard]] int replicas() const { return joined() ? sum_->replicas() : 1; }
  /// Values per channel of which statistics are means, `own` of them this replica's: means over
  /// the endless batch of fixed statistics do not depend on this one, and its gradients in them
  /// are 0.
  [[nodiscard]] double values(std::int64_t own) const {
    if (fixed_) return std::numeric_limits<double>::infinity();
    return static_cast<double>(own) * replicas();
  }
  /// Bytes of the sums of `channels` channels; 0 for a single replica.
  [[nodiscard]] std::size_t bytes(std::int64_t channels) const {
    return joined() ? static_cast<std::size_t>(channels) * sizeof(PairSum) : 0;
  }
  /// Where they are stored, bytes(channels) at a multiple of 16; null for a single replica.
  void bind(void* memory) { sums_ = joined() ? static_cast<PairSum*>(memory) : nullptr; }
  [[nodiscard]] PairSum* sums() const { return sums_; }
  /// Enqueues the all-reduce of the replicas' sums.
  void sum(std::int64_t channels) const {
    static_assert(sizeof(PairSum) == 2 * sizeof(double));
    sum_->sum(&sums_->first, 2 * channels);
  }

 private:
  [[nodiscard]] static bool joins(const StepDescription& step) {
    const bool sums = step.pass == Pass::forward_train || step.pass == Pass::backward_data;
    return step.statistics_sum != nullptr && step.statistics_sum->replicas() > 1 && sums &&
           op_as<BnOp>(step).values().sync;
  }

  StatisticsSum* sum_;
  bool fixed_;
  PairSum* sums_ = nullptr;
};

}  // namespace trainyard
