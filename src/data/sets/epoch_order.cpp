#include "data/sets/epoch_order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/philox.h"

namespace trainyard {
namespace {

// Draws of RandomStream::order beside epoch_order()'s 0, IndexShuffle's 1 to 8 and part_of()'s 9.
// The place of a sample's first time is drawn as in epoch_order(), of time k by kOnceMore + k.
constexpr std::uint32_t kRounding = 10, kOnceMore = 11;

std::uint64_t drawn_key(const OrderOptions& options, std::uint32_t draw, std::int64_t index) {
  const Random4 random = random4(options.seed, RandomStream::order, options.epoch, draw,
                                 static_cast<std::uint64_t>(index));
  return (std::uint64_t{random.word[1]} << 32) | random.word[0];
}

using Keyed = std::pair<std::uint64_t, std::int64_t>;  // a drawn key and what it orders

/// count^(1 - strength) in steps of 2^-20, so that the last bits of the C library do not matter.
double weight_of_class(std::int64_t count, double strength) {
  constexpr double kSteps = 1 << 20;
  if (count == 0) return 0;
  return std::round(std::pow(static_cast<double>(count), 1 - strength) * kSteps) / kSteps;
}

/// Whole numbers of about `shares` whose sum is theirs, `size`: the numbers of marks u, 1 + u, ...
/// in consecutive stretches of these lengths. On average over epochs they are the shares.
std::vector<std::int64_t> whole_shares(const std::vector<double>& shares, std::int64_t size,
                                       const OrderOptions& options) {
  constexpr int kBits = 20;  // few enough for sums with whole numbers below 2^33 to be exact
  const std::uint64_t drawn = drawn_key(options, kRounding, 0) >> (64 - kBits);
  const double u = std::ldexp(static_cast<double>(drawn), -kBits);
  std::vector<std::int64_t> whole;
  double end = 0;
  std::int64_t before = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    end += shares[c];
    const bool last = c + 1 == shares.size();
    const auto upto = std::min(last ? size : static_cast<std::int64_t>(end + u), size);
    whole.push_back(upto - before);
    before = upto;
  }
  return whole;
}

/// Appends these samples as often as they are taken, in the order of drawn keys.
void append_shuffled(const OrderOptions& options, std::span<const std::int64_t> samples,
                     const std::vector<std::int32_t>& times, std::vector<std::int64_t>& order) {
  std::vector<Keyed> keyed;
  for (const std::int64_t index : samples) {
    for (std::int32_t k = 0; k < times[static_cast<std::size_t>(index)]; ++k) {
      const std::uint32_t draw = k == 0 ? 0 : kOnceMore + static_cast<std::uint32_t>(k);
      keyed.emplace_back(drawn_key(options, draw, index), drawn_sample(index, k));
    }
  }
  std::ranges::sort(keyed);
  for (const Keyed& one : keyed) order.push_back(one.second);
}

}  // namespace

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
  const std::int64_t copies = 2 * options_.repeats, within = position % copies;
  return drawn_sample(once(position / copies * 2 + within % 2), within / 2);
}

/// The sample at a position of the order without repeats.
std::int64_t EpochOrder::once(std::int64_t position) const {
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

BalancedSampler::BalancedSampler(std::span<const std::int32_t> labels, std::int64_t classes,
                                 double strength)
    : size_(std::ssize(labels)), members_(static_cast<std::size_t>(classes)) {
  for (std::int64_t i = 0; i < size_; ++i) {
    const std::int32_t label = labels[static_cast<std::size_t>(i)];
    if (label >= 0 && label < classes) members_[static_cast<std::size_t>(label)].push_back(i);
  }
  // Classes without samples get none of the rounding either.
  std::erase_if(members_, [](const auto& of_class) { return of_class.empty(); });
  TY_CHECK(!members_.empty(), "a sampler needs a sample with a class");
  double all = 0;
  for (const auto& of_class : members_) {
    shares_.push_back(weight_of_class(std::ssize(of_class), strength));
    all += shares_.back();
  }
  for (double& share : shares_) share = share * static_cast<double>(size_) / all;
}

std::vector<std::int32_t> BalancedSampler::times(const OrderOptions& options) const {
  std::vector<std::int32_t> times(static_cast<std::size_t>(size_), 0);
  const std::vector<std::int64_t> whole = whole_shares(shares_, size_, options);
  std::vector<Keyed> keyed;
  for (std::size_t c = 0; c < members_.size(); ++c) {
    const std::vector<std::int64_t>& samples = members_[c];
    const std::int64_t each = whole[c] / std::ssize(samples), more = whole[c] % std::ssize(samples);
    keyed.clear();
    for (const std::int64_t index : samples) {
      times[static_cast<std::size_t>(index)] = static_cast<std::int32_t>(each);
      keyed.emplace_back(drawn_key(options, kOnceMore, index), index);
    }
    std::ranges::nth_element(keyed, keyed.begin() + more);
    for (std::int64_t i = 0; i < more; ++i) {
      ++times[static_cast<std::size_t>(keyed[static_cast<std::size_t>(i)].second)];
    }
  }
  return times;
}

std::vector<std::int64_t> BalancedSampler::epoch(const OrderOptions& options) const {
  TY_CHECK(options.size == size_ && options.shuffle, "a sampler's own set, shuffled");
  const std::vector<std::int32_t> taken = times(options);
  const std::int64_t block = options.block > 0 ? options.block : size_;
  const std::int64_t blocks = (size_ + block - 1) / block;
  const std::vector<std::int64_t> ordered =
      epoch_order(options.seed, options.epoch, blocks, blocks > 1);
  std::vector<std::int64_t> order, window;
  order.reserve(static_cast<std::size_t>(size_));
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t first = ordered[static_cast<std::size_t>(b)] * block;
    const std::int64_t last = std::min(first + block, size_);
    for (std::int64_t index = first; index < last; ++index) window.push_back(index);
    if ((b + 1) % EpochOrder::kWindowBlocks != 0 && b + 1 < blocks) continue;
    append_shuffled(options, window, taken, order);
    window.clear();
  }
  return order;
}

EpochOrder order_of_epoch(const OrderOptions& options, const BalancedSampler* sampler) {
  return sampler == nullptr ? EpochOrder(options) : EpochOrder(sampler->epoch(options));
}

}  // namespace trainyard
