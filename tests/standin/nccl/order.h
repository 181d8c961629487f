// The order of a communicator's work, and who waits for its end.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <set>

namespace standin::nccl {

/// Work of one communicator is done in the order in which it was launched, on whatever streams and
/// in whatever graphs (the guide, "Group calls" and "CUDA graphs": NCCL keeps it by events between
/// the streams).
class Order {
 public:
  using Turn = std::uint64_t;

  /// A piece of work was launched.
  [[nodiscard]] Turn launch();
  /// Whether it is the first that is not done. After abort() it always is.
  [[nodiscard]] bool is_turn(Turn turn);
  /// It is done, or can never be.
  void leave(Turn turn);
  /// Nothing waits for other ranks any more.
  void abort();
  [[nodiscard]] bool aborted();
  /// Whether all that was launched is done.
  [[nodiscard]] bool idle();

  /// Returns true once `condition` holds. Nothing tells of what other processes do, so it is asked
  /// again every little while, and whenever something happens here. False: aborted before.
  bool wait_for(const std::function<bool()>& condition);
  /// The same, whether aborted or not.
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
