// The sums over ranks of a training step, left out or made alone: what they take is the difference.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/forwarding_communicator.h"

namespace trainyard {

/// Stands before a communicator, which makes all calls but the sums that are left out. Whatever
/// asks for sums, and in whatever pieces, needs to know nothing of it.
class TimedAllReduce final : public ForwardingCommunicator {
 public:
  enum class Mode {
    make,
    note,  // make them, and keep them for make_noted(): during one step whose work is not recorded
    leave_out  // work that is recorded meanwhile is without them for ever
  };

  /// Stands before `ranks` from now on, which must outlive the last call. Answers itself.
  [[nodiscard]] Communicator& around(Communicator& ranks);
  void set_mode(Mode mode) { mode_ = mode; }
  /// Makes what is summed zeros, so that sums of sums stay finite.
  void clear_noted();
  /// Puts on the noted sums alone, in their order and on their queues.
  void make_noted();
  [[nodiscard]] std::size_t noted() const { return noted_.size(); }
  /// Waits for the queues of the noted sums.
  void wait();

  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) override {
    const SumPart part{data, count, type};
    all_reduce_sums(queue, {&part, 1});
  }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override;

 private:
  struct Call {
    Queue* queue;
    std::vector<SumPart> parts;
  };

  Mode mode_ = Mode::make;
  std::vector<Call> noted_;
};

}  // namespace trainyard
