// The all-reduces of a training step, left out or made alone to measure their cost.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace trainyard {

/// Wraps a communicator, which makes all calls except the all-reduces that are left out. The
/// callers need not know of it, whatever pieces they sum.
class TimedAllReduce final : public Communicator {
 public:
  enum class Mode {
    make,
    note,  // make them, and note them for make_noted(): during one step whose work is not recorded
    leave_out  // work recorded meanwhile never includes them
  };

  /// Wraps `ranks` from now on, which must outlive the last call. Returns itself.
  [[nodiscard]] Communicator& around(Communicator& ranks);
  void set_mode(Mode mode) { mode_ = mode; }
  /// Zeroes the memory that is summed, so that sums of sums stay finite.
  void clear_noted();
  /// Enqueues only the noted all-reduces, in their order and on their queues.
  void make_noted();
  [[nodiscard]] std::size_t noted() const { return noted_.size(); }
  /// Waits for the queues of the noted all-reduces.
  void wait();

  [[nodiscard]] int rank() const override { return ranks_->rank(); }
  [[nodiscard]] int size() const override { return ranks_->size(); }
  [[nodiscard]] bool recordable() const override { return ranks_->recordable(); }
  [[nodiscard]] bool sums_in_tree() const override { return ranks_->sums_in_tree(); }
  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) override {
    const SumPart part{data, count, type};
    all_reduce_sums(queue, {&part, 1});
  }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override;
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override;
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override;
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override;
  void barrier() override { ranks_->barrier(); }

 private:
  struct Call {
    Queue* queue;
    std::vector<SumPart> parts;
  };

  Communicator* ranks_ = nullptr;
  Mode mode_ = Mode::make;
  std::vector<Call> noted_;
};

}  // namespace trainyard
