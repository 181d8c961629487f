// The order of an epoch's samples, in which classes may be about equally frequent.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/host_device.h"

namespace trainyard {

/// Bits of a sample's index in its data set. Above them is how often the epoch has taken it before:
/// what is drawn for a sample (augmentation, dropout) is another draw each time.
inline constexpr int kSampleBits = 40;

/// Time number `time` (0: the first) that an epoch takes sample `index`.
[[nodiscard]] TY_HD std::int64_t drawn_sample(std::int64_t index, std::int64_t time) {
  return index + (time << kSampleBits);
}
/// The index of a drawn sample in its data set.
[[nodiscard]] TY_HD std::int64_t index_of_drawn(std::int64_t drawn) {
  return drawn & ((std::int64_t{1} << kSampleBits) - 1);
}

/// The sample order of an epoch: a permutation of [0, size), a pure function of (seed, epoch): the
/// indices sorted by 64-bit keys random4(seed, RandomStream::order, epoch, 0, index), ties by
/// index. The natural order without `shuffle`.
[[nodiscard]] std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch,
                                                    std::int64_t size, bool shuffle);

/// A permutation of [0, count), count at most 2^62, computed one value at a time: eight Feistel
/// rounds whose functions are random4(seed, RandomStream::order, epoch, 1 + round, (stage << 31) +
/// half), on the least even number of bits that hold `count`, walked until a value is below `count`
/// (Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002).
struct IndexShuffle {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::uint64_t stage = 0;  // different ones are different permutations; below 2^33
  [[nodiscard]] std::int64_t operator()(std::int64_t i, std::int64_t count) const;
};

/// What an order depends on.
struct OrderOptions {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t size = 0;   // samples, at least 1
  std::int64_t block = 0;  // see Dataset::block(); 0: none
  bool shuffle = true;
  std::int64_t repeats = 1;  // at least 1; more: repeated augmentation
};

/// The sample at each position of an epoch. Without a block size it is epoch_order(). With one, the
/// blocks of consecutive samples are ordered by epoch_order() and the samples of every
/// kWindowBlocks of them are mixed by IndexShuffle: reading a set in this order touches that many
/// blocks at a time. Reading positions from several threads is safe.
///
/// With repeats, pairs of this order come that often in a row (a b a b a b), and the epoch ends
/// after `size` positions, a part 1 / repeats of the samples: repeated augmentation (Hoffer et al.
/// 2019, arXiv 1901.09335; torchvision's RASampler repeats single samples and deals them to ranks).
/// The copies of a pair are other draws, and mixing in pairs joins two samples.
class EpochOrder {
 public:
  static constexpr std::int64_t kWindowBlocks = 16;

  EpochOrder() = default;
  explicit EpochOrder(const OrderOptions& options);
  /// The given samples, in this order.
  explicit EpochOrder(std::vector<std::int64_t> samples) : order_(std::move(samples)) {}
  /// The sample at `position`, in [0, size), as drawn_sample().
  [[nodiscard]] std::int64_t operator[](std::int64_t position) const;

 private:
  [[nodiscard]] std::int64_t once(std::int64_t position) const;
  [[nodiscard]] std::int64_t window_start(std::int64_t window) const;
  [[nodiscard]] std::int64_t mixed(std::int64_t position) const;

  OrderOptions options_;
  std::vector<std::int64_t> order_;  // order of samples or of blocks; empty: the natural one
  std::int64_t short_at_ = 0;        // position of the set's last block in order_
  std::int64_t missing_ = 0;         // samples that it lacks to be as long as the others
};

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
