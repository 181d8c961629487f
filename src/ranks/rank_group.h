// The ranks of a run, as seen by one of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "device/device.h"
#include "ranks/comm/communicator.h"
#include "ranks/rendezvous/failure.h"
#include "ranks/rendezvous/watchdog.h"
#include "ranks/spawn/rank_identity.h"

namespace trainyard {

struct RankGroupOptions {
  RankIdentity identity;
  RankLimits limits;
  std::string host;  // this machine's name, for messages
  /// Called from a thread of the group when another rank has failed and this rank's own thread is
  /// stuck and does not notice: reports it and ends the process with the failure's exit code.
  std::function<void(const Failure&)> on_failure;
  /// Time limit from report() to the destruction of this object; then on_failure is called,
  /// whatever this rank's own thread is waiting for. launch() kills processes that have not ended
  /// after 15 s.
  Milliseconds leave{12'000};
};

/// The ranks' rendezvous, watchdog and host-memory communicator. A group of one has no
/// connections. All ranks make collective calls in the same order.
class RankGroup {
 public:
  /// Connects to the other ranks. Throws Error{device} if one does not appear.
  explicit RankGroup(const RankGroupOptions& options);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  [[nodiscard]] const RankIdentity& identity() const { return options_.identity; }
  [[nodiscard]] int rank() const { return options_.identity.rank; }
  [[nodiscard]] int size() const { return options_.identity.ranks; }
  /// "rank 2 (node1)", for messages.
  [[nodiscard]] std::string name() const;
  /// Works on host memory, in the order of queue().
  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  [[nodiscard]] Queue& queue() { return *queue_; }
  /// Whether communicator() all-reduces through shared memory rather than TCP.
  [[nodiscard]] bool shares_memory() const { return shares_memory_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  /// How long a communicator call of these ranks may take. The watchdog decides sooner which rank
  /// caused a failure, and ends a rank whose own thread waits for one that is gone, directly or
  /// through its GPU.
  [[nodiscard]] Milliseconds call_limit() const;

  /// Tells the watchdog what this rank begins. Cheap enough for the step's critical path.
  void progress(std::int64_t step, const Operation& operation) noexcept;
  /// Every rank's text, indexed by rank.
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine);
  /// The result of `make`, which is called only on the first rank of this machine that gets here.
  /// The others wait for it up to call_limit(), and throw Error{device} if it failed there.
  [[nodiscard]] std::string once_a_machine(const std::function<std::string()>& make);
  /// Rank 0's text; the others' texts are ignored.
  [[nodiscard]] std::string from_first(std::string_view text);
  /// The largest of all ranks' numbers.
  [[nodiscard]] int largest(int mine);
  /// Throws Error{device} naming the rank and both values unless all ranks have the same value.
  void require_equal(std::string_view what, std::string_view mine);

  /// Sets a function called before on_failure, from the same thread; empty: none.
  void set_last_words(std::function<void(const Failure&)> last_words);
  /// Tells the other ranks why this one ends. Returns the first failure of all ranks, which is this
  /// one unless another rank caused it. RankGroupOptions::leave starts now.
  [[nodiscard]] Failure report(const Error& error);
  /// Leaves the group at the end; rank 0 waits for the others. Throws Error{device} if a rank
  /// failed.
  void sign_off();

 private:
  class Meeting;
  class ReportingCommunicator;
  class Leaving;

  void handle(const Failure& failure);

  RankGroupOptions options_;
  SystemClock clock_;
  std::mutex last_words_mutex_;
  std::function<void(const Failure&)> last_words_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
  std::unique_ptr<Meeting> meeting_;  // null for one rank
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<Leaving> leaving_;  // null: no failure reported
  bool shares_memory_ = false;
  int made_once_ = 0;      // calls of once_a_machine()
  std::int64_t step_ = 0;  // last given to progress()
  const Operation* operation_ = nullptr;
};

/// The failure of another rank as this rank's error.
[[nodiscard]] Error error_of(const Failure& failure);
/// Reports `own` to the other ranks and returns the first error of all ranks.
[[nodiscard]] Error first_of_ranks(RankGroup& ranks, const Error& own);

/// Throws Error{device} naming the first rank whose `hash` is not rank 0's, after `step` steps.
/// Every rank calls it.
void require_equal_models(const std::string& hash, RankGroup& ranks, std::int64_t step);

}  // namespace trainyard
