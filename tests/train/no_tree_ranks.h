// Ranks that play those on GPUs: their own sums have no order that anybody knows.
#pragma once

#include "base/error.h"
#include "forwarding_ranks.h"

namespace trainyard::test {

/// `ranks` with all but its sums, which are refused: whoever wants an order makes it.
class NoTreeRanks final : public testing::ForwardingRanks {
 public:
  using ForwardingRanks::ForwardingRanks;
  void all_reduce_sum(Queue&, void*, std::int64_t, DType) override {
    throw Error(ErrorKind::bug, "a sum in no order");
  }
};

}  // namespace trainyard::test
