// Ranks that work together. One contract for one rank, Gloo and NCCL.
//
// The folder comm holds communicators: one rank, Gloo, shared memory, NCCL, and ranks that share a
// GPU. How ranks find each other is in ranks/rendezvous, how they are started in ranks/spawn.
// Nothing here knows a trainer or YAML. tests/ranks/conformance.h is what every communicator must
// do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "device/device.h"
#include "tensor/dtype.h"

namespace trainyard {

/// Memory to be all-reduced.
struct SumPart {
  void* data = nullptr;
  std::int64_t count = 0;  // elements
  DType type = DType::f32;
};

/// Collectives over a fixed group of ranks, called in the same order with the same sizes by every
/// rank. They act on memory of one device, in the order of a queue of that device: they see the
/// results of earlier work on the queue, and later work sees theirs. In a group on host memory the
/// work is done on return; on a GPU it may only be enqueued. Errors throw Error{device} and name
/// the rank, the operation and its size; after one, the communicator can only be destroyed.
class Communicator {
 public:
  virtual ~Communicator() = default;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// True if Device::record() can record calls. Else the host takes part in each call and waits for
  /// the queue.
  [[nodiscard]] virtual bool recordable() const = 0;
  /// True if sums have the order of tree_sum.h.
  [[nodiscard]] virtual bool sums_in_tree() const = 0;

  /// All-reduces `count` elements of f64, f32, f16, bf16 or i32 in place; bit-identical on every
  /// rank and, with sums_in_tree(), in every run.
  void all_reduce_sum(Queue& queue, void* data, std::int64_t count, DType type) {
    const SumPart part{data, count, type};
    all_reduce_sums(queue, {&part, 1});
  }
  /// all_reduce_sum() of each part, in one call if that is faster; without sums_in_tree() the order
  /// of a sum may then be another one, as NCCL's is from three ranks on.
  virtual void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) = 0;
  /// Copies rank `root`'s bytes to every rank.
  virtual void broadcast(Queue& queue, void* data, std::size_t bytes, int root) = 0;
  /// Rank r's `bytes` bytes to byte r * bytes of `out` (size() * bytes) on every rank.
  virtual void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) = 0;
  /// Slice r of `mine` to rank r, and rank r's slice for this rank to slice r of `out`, which is
  /// different memory: size() slices of `bytes` each.
  virtual void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) = 0;
  /// Returns when every rank has called it. Waits for no queue.
  virtual void barrier() = 0;

  /// After a failure: aborts the group, so that no queue waits for other ranks any more and the
  /// memory in use can be freed. Only the destructor may follow. Recordings of calls are destroyed
  /// first. Calls in which the host waits end by themselves and need nothing.
  virtual void give_up() noexcept {}
};

/// Gives a group up if an error destroys its owner. Declare it as the owner's last member: freeing
/// memory waits for the queues that use it, and an all-reduce that lacks a rank never ends.
class GiveUpOnError {
 public:
  /// `ranks` outlives it; null: no group.
  explicit GiveUpOnError(Communicator* ranks) : ranks_(ranks) {}
  ~GiveUpOnError() {
    if (ranks_ != nullptr && std::uncaught_exceptions() > errors_before_) ranks_->give_up();
  }
  GiveUpOnError(const GiveUpOnError&) = delete;
  GiveUpOnError& operator=(const GiveUpOnError&) = delete;

 private:
  Communicator* ranks_;
  int errors_before_ = std::uncaught_exceptions();
};

/// The group of one rank: every call completes immediately. For memory of any device.
[[nodiscard]] std::unique_ptr<Communicator> make_single_communicator();

/// Forwards every call to another communicator.
class ForwardingCommunicator : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return inner_->rank(); }
  [[nodiscard]] int size() const override { return inner_->size(); }
  [[nodiscard]] bool recordable() const override { return inner_->recordable(); }
  [[nodiscard]] bool sums_in_tree() const override { return inner_->sums_in_tree(); }
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

/// Sums over the communicator's ranks, enqueued on `queue`. Null for one rank, which has nothing to
/// sum. Both outlive it.
[[nodiscard]] std::unique_ptr<StatisticsSum> make_statistics_sum(Communicator& communicator,
                                                                 Queue& queue);

// Small values gathered from all ranks, for decisions that every rank must make alike. For groups
// on host memory (Gloo, or one rank); `queue` is one of the CPU device.

/// Every rank's value, by rank.
template <class T>
[[nodiscard]] std::vector<T> gather_values(Communicator& ranks, Queue& queue, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(queue, &mine, sizeof mine, all.data());
  return all;
}

/// Every rank's text, by rank.
[[nodiscard]] std::vector<std::string> gather_texts(Communicator& ranks, Queue& queue,
                                                    std::string_view mine);
/// The largest value of all ranks.
[[nodiscard]] double largest(Communicator& ranks, Queue& queue, double mine);
/// Rank `root`'s text; the others' are ignored.
[[nodiscard]] std::string broadcast_text(Communicator& ranks, Queue& queue, std::string_view text,
                                         int root);

// Collectives on device memory by a host communicator: for ranks that share a GPU.

/// The ranks of `hosts` for memory of `device`. A call copies to pinned host memory, waits for the
/// queue, calls `hosts` and enqueues the copy back, so that sums have the order of `hosts` and are
/// bit-identical to its sums. A call no larger than an earlier one allocates nothing. Both outlive
/// it. For one thread at a time.
[[nodiscard]] std::unique_ptr<Communicator> make_staged_communicator(Device& device,
                                                                     Communicator& hosts);

// The all-reduces of a training step, left out or made alone to measure their cost.

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

/// A communicator's call, for messages and for telling calls apart.
struct CollectiveCall {
  std::string_view operation;  // static
  std::int64_t count = 0;
  std::string_view unit;  // static: "f32 elements"
  int root = 0;
};

/// The all-reduce of `count` elements. Bytes are not all-reduced: u8 is an internal error.
[[nodiscard]] CollectiveCall sum_call(std::int64_t count, DType type);

/// "1000 f32 elements".
[[nodiscard]] std::string amount_of(const CollectiveCall& call);
/// "all_reduce_sum of 1000 f32 elements".
[[nodiscard]] std::string text_of(const CollectiveCall& call);

/// What is wrong with the rank `name`: it no longer takes part, or did not do so in time.
[[nodiscard]] std::string gone_text(const std::string& name, const std::string& reason);
[[nodiscard]] std::string late_text(const std::string& name, Milliseconds limit,
                                    const std::string& reason);

/// Error{device} of a call, by its text, that `name` made over `ranks` ranks.
[[nodiscard]] Error failed_call(const std::string& call, const std::string& name, int ranks,
                                const std::string& reason);

}  // namespace trainyard
