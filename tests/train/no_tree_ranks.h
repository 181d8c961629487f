// Ranks that simulate those on GPUs: their own all-reduces have no known order.
#pragma once

#include "base/error.h"
#include "forwarding_ranks.h"

namespace trainyard::test {

/// `ranks` without its all-reduces, which are refused: code that needs an order must make it.
class NoTreeRanks final : public testing::ForwardingRanks {
 public:
  using ForwardingRanks::ForwardingRanks;

 protected:
  void sum(Queue&, const SumPart&) override { throw Error(ErrorKind::bug, "a sum in no order"); }
};

}  // namespace trainyard::test
