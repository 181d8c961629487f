// The order of a communicator's work, and waiting for its end.
#pragma once

#include <nccl.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>
#include <span>

namespace standin::nccl {

/// Work of one communicator is done in the order of its launches, on whatever streams and in
/// whatever graphs (the guide, "Group calls" and "CUDA graphs": NCCL ensures it by events between
/// the streams).
class Order {
 public:
  using Turn = std::uint64_t;

  /// A piece of work was launched.
  [[nodiscard]] Turn launch();
  /// Whether it is the first unfinished one. After abort() always true.
  [[nodiscard]] bool is_turn(Turn turn);
  /// It is done, or never can be.
  void leave(Turn turn);
  /// From now on nothing waits for other ranks.
  void abort();
  [[nodiscard]] bool aborted();
  /// Whether all that was launched is done.
  [[nodiscard]] bool idle();

  /// Returns true once `condition` holds. Other processes cannot notify this one, so it is polled
  /// at short intervals, and whenever something happens here. False: aborted before.
  bool wait_for(const std::function<bool()>& condition);
  /// The same, regardless of abort().
  void wait_out(const std::function<bool()>& condition);

 private:
  bool wait(const std::function<bool()>& condition, bool until_abort);

  std::mutex mutex_;
  std::condition_variable changed_;
  Turn next_ = 0;
  std::set<Turn> open_;
  bool aborted_ = false;
};

/// Bytes of an element; 0 for an invalid type.
[[nodiscard]] std::size_t bytes_of(ncclDataType_t type);
/// Whether the stand-in sums this type.
[[nodiscard]] bool can_sum(ncclDataType_t type);

/// Elements of a whole sum that are added now.
struct Part {
  std::uint64_t first = 0, elements = 0;
  std::uint64_t count = 0;  // count of the whole
};

/// out[i] = the sum of ranks[...][i], in the order of a ring: the whole is divided into as many
/// slices as there are ranks, and slice s starts with rank s + 1 and goes round to rank s. As in a
/// ring of NCCL, every addition is rounded to the type (reduce_kernel.h). So the bits are the same
/// in every run and on every rank, and differ from those of a tree from four ranks on.
void sum_in_ring(ncclDataType_t type, std::span<const std::byte* const> ranks, const Part& part,
                 void* out);

}  // namespace standin::nccl
