// Ranks whose sums have their own order, like NCCL's.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "forwarding_ranks.h"
#include "ranks/comm/tree_sum.h"

namespace trainyard::testing {

/// Sums one rank after the other over `ranks`, on the host, rounding each time: ((0 + 1) + 2) + 3.
class SequentialRanks final : public ForwardingRanks {
 public:
  /// Only the first `summed` ranks count, which is a fault if there are more.
  SequentialRanks(Communicator& ranks, int summed) : ForwardingRanks(ranks), summed_(summed) {}

 protected:
  void sum(Queue& queue, const SumPart& part) override {
    const std::size_t bytes = static_cast<std::size_t>(part.count) * size_of(part.type);
    std::vector<std::byte> all(bytes * static_cast<std::size_t>(size()));
    inner().all_gather(queue, part.data, bytes, all.data());
    for (int other = 1; other < summed_; ++other) {
      const std::array<const void*, 2> pair{all.data(),
                                            all.data() + static_cast<std::size_t>(other) * bytes};
      TreeSum().run(pair, all.data(), part.count, part.type);
    }
    if (bytes > 0) queue.copy(part.data, all.data(), bytes);
  }

 private:
  int summed_;
};

}  // namespace trainyard::testing
