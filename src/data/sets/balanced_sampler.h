// Epochs in which classes are about equally frequent.
//
// An epoch is as long as the set. Class c gets a share of it in proportion to
// count_c^(1 - strength), in whole samples; within a class every sample is taken equally often, but
// for some, drawn anew each epoch, that are taken once more. Draws with replacement (PyTorch's
// WeightedRandomSampler) have the same mean, but by chance alone they take 37% of the samples of
// even a balanced set not at all, and others three or four times; the classes' numbers vary, too.
// Here a class's number is exact to one sample, no sample comes again before all of its class have
// come, and with a strength of 0 the epoch is the plain one: every sample once, of a set without
// blocks in the same order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sets/epoch_order.h"

namespace trainyard {

/// The samples of epochs, balanced by class: pure functions of the labels, the strength and the
/// options of the order. Reading from several threads is safe.
class BalancedSampler {
 public:
  /// `labels` are those of samples 0, 1, ...; samples whose label is not in [0, classes) are never
  /// taken, and at least one is. `strength` in [0, 1]: 0 leaves the frequencies of classes as they
  /// are, 1 makes them equal.
  BalancedSampler(std::span<const std::int32_t> labels, std::int64_t classes, double strength);

  /// The epoch's samples in their order, as drawn_sample(): options.size of them, which is the
  /// number of labels. With a block size they come in windows of blocks, as EpochOrder's.
  [[nodiscard]] std::vector<std::int64_t> epoch(const OrderOptions& options) const;

  /// How many samples an epoch has of each class on average.
  [[nodiscard]] const std::vector<double>& shares() const { return shares_; }

 private:
  /// How often the epoch takes each sample.
  [[nodiscard]] std::vector<std::int32_t> times(const OrderOptions& options) const;

  std::int64_t size_;
  std::vector<std::vector<std::int64_t>> members_;  // indexed by class
  std::vector<double> shares_;                      // indexed by class
};

/// The order of an epoch: of `sampler`, or without one EpochOrder's own.
[[nodiscard]] EpochOrder order_of_epoch(const OrderOptions& options,
                                        const BalancedSampler* sampler);

}  // namespace trainyard
