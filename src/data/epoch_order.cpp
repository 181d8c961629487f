#include <algorithm>
#include <numeric>
#include <utility>

#include "base/philox.h"
#include "data/feeder.h"

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

}  // namespace trainyard
