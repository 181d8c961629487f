// The order of a communicator's work, and waiting for its end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

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

}  // namespace standin::nccl
