// The order of an epoch's samples.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace trainyard {

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
};

/// The sample at each position of an epoch. Without a block size it is epoch_order(). With one, the
/// blocks of consecutive samples are ordered by epoch_order() and the samples of every
/// kWindowBlocks of them are mixed by IndexShuffle: reading a set in this order touches that many
/// blocks at a time. Reading positions from several threads is safe.
class EpochOrder {
 public:
  static constexpr std::int64_t kWindowBlocks = 16;

  EpochOrder() = default;
  explicit EpochOrder(const OrderOptions& options);
  /// The given samples, in this order.
  explicit EpochOrder(std::vector<std::int64_t> samples) : order_(std::move(samples)) {}
  /// The sample at `position`, in [0, size).
  [[nodiscard]] std::int64_t operator[](std::int64_t position) const;

 private:
  [[nodiscard]] std::int64_t window_start(std::int64_t window) const;
  [[nodiscard]] std::int64_t mixed(std::int64_t position) const;

  OrderOptions options_;
  std::vector<std::int64_t> order_;  // order of samples or of blocks; empty: the natural one
  std::int64_t short_at_ = 0;        // position of the set's last block in order_
  std::int64_t missing_ = 0;         // samples that it lacks to be as long as the others
};

}  // namespace trainyard
