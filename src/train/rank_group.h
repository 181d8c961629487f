// The ranks of a run as one of them sees it.
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
#include "comm/communicator.h"
#include "comm/rendezvous/failure.h"
#include "comm/rendezvous/rank_limits.h"
#include "comm/rendezvous/watchdog.h"
#include "device/device.h"
#include "launch/rank_identity.h"

namespace trainyard {

struct RankGroupOptions {
  RankIdentity place;
  RankLimits limits;
  std::string host;  // name of this machine, for messages
  /// Called from a thread of the group when another rank has failed and this one's own thread does
  /// not notice, stuck as it is: says so, and ends the process with the failure's exit code.
  std::function<void(const Failure&)> on_failure;
  /// From report() to the end of this object; then on_failure is called, whatever this rank's own
  /// thread waits for. launch() kills what has not ended after 15 s.
  Milliseconds leave{12'000};
};

/// Where the ranks meet, the watchdog over them and the communicator among their processors. A
/// group of one has no connection to anything. What several ranks do, they do in the same order.
class RankGroup {
 public:
  /// Meets the others. Throws Error{device} if one does not appear.
  explicit RankGroup(const RankGroupOptions& options);
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  [[nodiscard]] const RankIdentity& place() const { return options_.place; }
  [[nodiscard]] int rank() const { return options_.place.rank; }
  [[nodiscard]] int size() const { return options_.place.ranks; }
  /// "rank 2 (node1)", for messages.
  [[nodiscard]] std::string name() const;
  /// Acts on the host's memory, in the order of queue().
  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  [[nodiscard]] Queue& queue() { return *queue_; }
  /// Whether sums of communicator() go through memory that the ranks share, and not over TCP.
  [[nodiscard]] bool shares_memory() const { return shares_memory_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  /// How long a call of a communicator of these ranks may take. The watchdog judges sooner who is
  /// to blame, and ends a rank whose own thread waits for one that is gone, also for its GPU.
  [[nodiscard]] Milliseconds call_limit() const;

  /// Notes what this rank begins, for the watchdog. Cheap, for the path of a step.
  void progress(std::int64_t step, const Operation& operation) noexcept;
  /// Every rank's text, by rank.
  [[nodiscard]] std::vector<std::string> gather(std::string_view mine);
  /// What `make` gives on the first rank of this machine that comes here, where alone it is called.
  /// The others wait for it, as long as a call may take, and throw Error{device} if it failed
  /// there.
  [[nodiscard]] std::string once_a_machine(const std::function<std::string()>& make);
  /// Rank 0's text; those of the others are not looked at.
  [[nodiscard]] std::string from_first(std::string_view text);
  /// The largest of all ranks' numbers.
  [[nodiscard]] int largest(int mine);
  /// Asks for a vote: all ranks know it, at the same place, once the next all_reduce_sums() of
  /// communicator() is done. It costs no call of its own.
  void call_vote() { vote_flag_.own = true; }
  /// Whether a rank has asked.
  [[nodiscard]] bool vote_called() const { return size() == 1 ? vote_flag_.own : vote_flag_.seen; }
  /// Throws Error{device} that names the rank and both values unless all ranks have the same.
  void require_equal(std::string_view what, std::string_view mine);

  /// Called before on_failure, from the same thread; empty: nothing is.
  void set_last_words(std::function<void(const Failure&)> last_words);
  /// Tells the others why this rank ends. Answers the first failure of all ranks, which is this one
  /// unless it only met what another had caused. This rank has RankGroupOptions::leave from now on.
  [[nodiscard]] Failure report(const Error& error);
  /// Leaves at the end; rank 0 waits for the others. Throws Error{device} for a rank that failed.
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
  std::unique_ptr<Leaving> leaving_;  // null: no failure was reported
  bool shares_memory_ = false;
  struct VoteFlag {
    bool own = false, seen = false;
  } vote_flag_;
  int made_once_ = 0;      // calls of once_a_machine()
  std::int64_t step_ = 0;  // as progress() was told
  const Operation* operation_ = nullptr;
};

/// The failure of another rank as this rank's error.
[[nodiscard]] Error error_of(const Failure& failure);
/// Tells the other ranks of `own`, and answers the first of all their errors.
[[nodiscard]] Error first_of_ranks(RankGroup& ranks, const Error& own);

}  // namespace trainyard
