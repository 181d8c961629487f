// The all-reduces of a training step, left out or made alone to measure their cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ranks/comm/communicator.h"

namespace trainyard {

/// Wraps a communicator, which makes all calls except the all-reduces that are left out. The
/// callers need not know of it, whatever pieces they sum.
class TimedAllReduce final : public ForwardingCommunicator {
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
  /// Enqueues only one of them.
  void make_noted(std::size_t call);
  [[nodiscard]] std::size_t noted() const { return noted_.size(); }
  [[nodiscard]] std::span<const SumPart> noted_parts(std::size_t call) const {
    return noted_[call].parts;
  }
  /// Waits for the queues of the noted all-reduces.
  void wait();

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
