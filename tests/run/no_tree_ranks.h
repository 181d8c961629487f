// Ranks that play those on GPUs: their own sums have no order that anybody knows.
#pragma once

#include "base/error.h"
#include "comm/communicator.h"

namespace trainyard::test {

/// `ranks` with all but its sums, which are refused: whoever wants an order makes it.
class NoTreeRanks final : public Communicator {
 public:
  explicit NoTreeRanks(Communicator& ranks) : ranks_(ranks) {}
  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return false; }
  void all_reduce_sum(Queue&, void*, std::int64_t, DType) override {
    throw Error(ErrorKind::bug, "a sum in no order");
  }
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

 private:
  Communicator& ranks_;
};

}  // namespace trainyard::test
