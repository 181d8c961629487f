// A communicator that wraps another one and changes some of its calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ranks/comm/communicator.h"

namespace trainyard {

/// Forwards every call to another communicator.
class ForwardingCommunicator : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  [[nodiscard]] bool recordable() const override { return inner_->recordable(); }
  [[nodiscard]] bool sums_in_tree() const override { return inner_->sums_in_tree(); }
  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) override {
    inner_->all_reduce_sum(queue, data, count, type);
  }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    inner_->all_reduce_sums(queue, parts);
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    inner_->broadcast(queue, data, bytes, root);
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    inner_->all_gather(queue, mine, bytes, out);
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    inner_->all_to_all(queue, mine, bytes, out);
  }
  void barrier() override { inner_->barrier(); }
  void give_up() noexcept override { inner_->give_up(); }

 protected:
  ForwardingCommunicator() = default;
  explicit ForwardingCommunicator(Communicator& inner) : inner_(&inner) {}
  /// From now on; it must outlive the last call.
  void forward_to(Communicator& inner) { inner_ = &inner; }
  [[nodiscard]] Communicator& inner() const { return *inner_; }

 private:
  Communicator* inner_ = nullptr;
};

}  // namespace trainyard
