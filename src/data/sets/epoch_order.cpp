#include "data/sets/epoch_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/philox.h"

namespace trainyard {

std::vector<std::int64_t> epoch_order(std::uint64_t seed, std::uint32_t epoch, std::int64_t size,
                                      bool shuffle) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  if (!shuffle) return order;
  std::vector<std::pair<std::uint64_t, std::int64_t>> keyed;
  keyed.reserve(order.size());
  for (const std::int64_t index : order) {
    const Random4 random =
        random4(seed, RandomStream::order, epoch, 0, static_cast<std::uint64_t>(index));
    const std::uint64_t key = (std::uint64_t{random.word[1]} << 32) | random.word[0];
    keyed.emplace_back(key, index);
  }
  std::sort(keyed.begin(), keyed.end());
  std::transform(keyed.begin(), keyed.end(), order.begin(),
                 [](const auto& pair) { return pair.second; });
  return order;
}

std::int64_t IndexShuffle::operator()(std::int64_t i, std::int64_t count) const {
  constexpr std::uint32_t kRounds = 8;
  int half_bits = 1;
  while ((std::int64_t{1} << (2 * half_bits)) < count) ++half_bits;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
  auto value = static_cast<std::uint64_t>(i);
  do {
    std::uint64_t left = value >> half_bits, right = value & mask;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      const Random4 random =
          random4(seed, RandomStream::order, epoch, 1 + round, (stage << 31) + right);
      left = std::exchange(right, left ^ (random.word[0] & mask));
    }
    value = (left << half_bits) | right;
  } while (value >= static_cast<std::uint64_t>(count));
  return static_cast<std::int64_t>(value);
}

EpochOrder::EpochOrder(const OrderOptions& options) : options_(options) {
  if (!options.shuffle) return;
  const std::int64_t block = std::max<std::int64_t>(options.block, 1);
  const std::int64_t blocks = (options.size + block - 1) / block;
  order_ = epoch_order(options.seed, options.epoch, blocks, true);
  missing_ = blocks * block - options.size;
  short_at_ = std::ranges::find(order_, blocks - 1) - order_.begin();
}

std::int64_t EpochOrder::operator[](std::int64_t position) const {
  if (order_.empty()) return position;
  if (options_.block == 0) return order_[static_cast<std::size_t>(position)];
  return mixed(position);
}

/// The position of a window's first sample: windows are equally long, except that of the short
/// block, and the last one.
std::int64_t EpochOrder::window_start(std::int64_t window) const {
  const bool after_short = window > short_at_ / kWindowBlocks;
  const std::int64_t start = window * kWindowBlocks * options_.block - (after_short ? missing_ : 0);
  return std::min(start, options_.size);
}

std::int64_t EpochOrder::mixed(std::int64_t position) const {
  const std::int64_t span = kWindowBlocks * options_.block;
  const std::int64_t short_window = short_at_ / kWindowBlocks;
  const bool after_short = position >= window_start(short_window + 1);
  const std::int64_t window = (position + (after_short ? missing_ : 0)) / span;
  const std::int64_t start = window_start(window);
  const IndexShuffle shuffle{options_.seed, options_.epoch, static_cast<std::uint64_t>(window)};
  std::int64_t within = shuffle(position - start, window_start(window + 1) - start);
  if (window == short_window) {
    const std::int64_t short_end = (short_at_ % kWindowBlocks + 1) * options_.block - missing_;
    if (within >= short_end) within += missing_;
  }
  const std::int64_t block =
      order_[static_cast<std::size_t>(window * kWindowBlocks + within / options_.block)];
  return block * options_.block + within % options_.block;
}

}  // namespace trainyard
