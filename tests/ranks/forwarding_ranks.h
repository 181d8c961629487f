// A communicator that wraps another one, for tests that change some of its calls.
#pragma once

#include "ranks/comm/communicator.h"

namespace trainyard::testing {

/// Says that calls may be recorded and that sums are in no known order, as ranks on GPUs do. Sums
/// part by part.
class ForwardingRanks : public ForwardingCommunicator {
 public:
  explicit ForwardingRanks(Communicator& ranks) : ForwardingCommunicator(ranks) {}
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return false; }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    for (const SumPart& part : parts) sum(queue, part);
  }

 protected:
  virtual void sum(Queue& queue, const SumPart& part) {
    inner().all_reduce_sum(queue, part.data, part.count, part.type);
  }
};

}  // namespace trainyard::testing
