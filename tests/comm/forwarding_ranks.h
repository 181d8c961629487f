// A communicator that wraps another one, for tests that change some of its calls.
#pragma once

#include "comm/communicator.h"

namespace trainyard::testing {

/// Forwards everything but sums. Reports that calls may be recorded and that sums have no known
/// order, as ranks on GPUs do.
class ForwardingRanks : public Communicator {
 public:
  explicit ForwardingRanks(Communicator& ranks) : ranks_(ranks) {}
  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return false; }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    ranks_.broadcast(queue, data, bytes, root);
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    ranks_.all_gather(queue, mine, bytes, out);
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    ranks_.all_to_all(queue, mine, bytes, out);
  }
  void barrier() override { ranks_.barrier(); }

 protected:
  Communicator& ranks_;
};

}  // namespace trainyard::testing
