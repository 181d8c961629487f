// The watchdog on real sockets, with ranks as threads; ranks that must die are processes, see
// process_test.cpp.
#include "ranks/rendezvous/watchdog.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "../thread_ranks.h"
#include "base/error.h"
#include "ranks/rendezvous/store_server.h"
#include "raw_client.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr Operation kLoad{"load"};
constexpr Operation kAllReduce{"all_reduce", true};
const std::string kJobToken = "a token";

/// Limits that no test reaches unless it waits for them.
constexpr WatchdogLimits kPatient{.first_step = kLong,
                                  .step = kLong,
                                  .median_steps = 20,
                                  .silence = kLong,
                                  .cause = Milliseconds(50)};

/// Receives a watchdog's failure.
class Ear {
 public:
  [[nodiscard]] Watchdog::OnFailure callback() {
    return [this](const Failure& failure) {
      const std::scoped_lock lock(mutex_);
      heard_.push_back(failure);
      changed_.notify_all();
    };
  }
  /// Waits for it.
  [[nodiscard]] Failure failure() {
    std::unique_lock lock(mutex_);
    REQUIRE(changed_.wait_for(lock, kLong, [&] { return !heard_.empty(); }));
    return heard_.front();
  }
  [[nodiscard]] std::size_t calls() {
    const std::scoped_lock lock(mutex_);
    return heard_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Failure> heard_;
};

/// A job whose ranks are watchdogs of this process.
class Job {
 public:
  explicit Job(int ranks, const WatchdogLimits& limits = kPatient)
      : ears(static_cast<std::size_t>(ranks)),
        watchdogs(static_cast<std::size_t>(ranks)),
        server_(std::make_unique<StoreServer>(server_options(ranks, limits))) {}

  [[nodiscard]] WatchdogOptions options(int rank) const {
    return {.store = {.endpoint = {"127.0.0.1", server_->port()}, .token = kJobToken},
            .rank = rank,
            .host = "host" + std::to_string(rank),
            .interval = Milliseconds(10),
            .silence = kLong,
            .connect = kLong};
  }
  void join(int rank) {
    const auto at = static_cast<std::size_t>(rank);
    watchdogs[at] = std::make_unique<Watchdog>(options(rank), ears[at].callback());
  }
  void join_all() {
    for (std::size_t rank = 0; rank < watchdogs.size(); ++rank) join(static_cast<int>(rank));
  }
  void end_server() { server_.reset(); }

  std::vector<Ear> ears;
  std::vector<std::unique_ptr<Watchdog>> watchdogs;

 private:
  static StoreServerOptions server_options(int ranks, const WatchdogLimits& limits) {
    StoreServerOptions options;
    options.endpoint.host = "127.0.0.1";
    options.token = kJobToken;
    options.ranks = ranks;
    options.watchdog = limits;
    return options;
  }
  std::unique_ptr<StoreServer> server_;
};

}  // namespace

TEST_CASE("a watchdog that ends without signing off is a death, reported to all others once") {
  Job job(3);
  job.join_all();
  job.watchdogs[1].reset();
  for (const std::size_t rank : {0U, 2U}) {
    const Failure failure = job.ears[rank].failure();
    CHECK(failure.rank == 1);
    CHECK(failure.host == "host1");
    CHECK(failure.exit_code == 8);
    CHECK(failure.text.find("its connection closed without signing off") != std::string::npos);
  }
  job.watchdogs[2].reset();
  CHECK_FALSE(job.watchdogs[0]->sign_off(kLong));
  CHECK(job.ears[0].calls() == 1);
  CHECK(job.ears[1].calls() == 0);
}

TEST_CASE("a rank's report is sent to all others, and does not call it back") {
  Job job(2);
  job.join_all();
  job.watchdogs[1]->progress(7, kLoad);
  const Failure told = job.watchdogs[1]->report("data/x is gone", 4, false, kLong);
  const Failure heard = job.ears[0].failure();
  CHECK(heard == told);
  CHECK(message_of(heard) == "rank 1 (host1), step 7, load: data/x is gone");
  CHECK(heard.exit_code == 4);
  job.watchdogs[1].reset();
  CHECK(job.ears[1].calls() == 0);
}

TEST_CASE("a rank whose collective failed is notified of the cause") {
  WatchdogLimits limits = kPatient;
  limits.cause = kLong;
  Job job(3, limits);
  job.join_all();
  std::optional<Failure> told;
  std::thread waiting(
      [&] { told = job.watchdogs[0]->report("rank 2 (host2) is gone", 8, true, kLong); });
  const Failure cause = job.watchdogs[2]->report("a bug", 1, false, kLong);
  waiting.join();
  CHECK(told == cause);
  CHECK(job.ears[1].failure() == cause);
}

TEST_CASE("a failed collective without another cause is the failure") {
  Job job(2);
  job.join_all();
  const Failure told = job.watchdogs[0]->report("the network is gone", 8, true, kLong);
  CHECK(told.text == "the network is gone");
  CHECK(job.ears[1].failure() == told);
}

TEST_CASE("a rank without progress is named by all, itself too, with its last operation") {
  WatchdogLimits limits = kPatient;
  limits.first_step = Milliseconds(200);
  Job job(2, limits);
  job.join_all();
  job.watchdogs[0]->progress(3, kAllReduce);
  job.watchdogs[1]->progress(3, kLoad);
  for (Ear& ear : job.ears) {
    const Failure failure = ear.failure();
    CHECK(message_of(failure) ==
          "rank 1 (host1), step 3, load: no progress within 0.2 s: the process is alive but "
          "hangs");
  }
}

TEST_CASE("calls of progress keep a rank alive, also within one step") {
  WatchdogLimits limits = kPatient;
  limits.first_step = Milliseconds(1000);
  limits.step = Milliseconds(1000);
  Job job(1, limits);
  job.join_all();
  const Moment end = std::chrono::steady_clock::now() + Milliseconds(1500);
  while (std::chrono::steady_clock::now() < end) job.watchdogs[0]->progress(3, kLoad);
  CHECK(job.ears[0].calls() == 0);
  CHECK(job.ears[0].failure().step == 3);
}

TEST_CASE("a rank that does not join is reported to those that have") {
  WatchdogLimits limits = kPatient;
  limits.first_step = Milliseconds(100);
  Job job(2, limits);
  job.join(0);
  const Moment begin = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; job.ears[0].calls() == 0; ++step) {
    job.watchdogs[0]->progress(step, kLoad);
    REQUIRE(std::chrono::steady_clock::now() - begin < kLong);
  }
  CHECK(job.ears[0].failure().text ==
        "it did not join within 0.1 s; was it started, and does it reach rank 0?");
}

TEST_CASE("ranks that sign off leave without a failure, rank 0 last") {
  Job job(3);
  job.join_all();
  std::mutex mutex;
  std::vector<int> left;
  const Outcomes outcomes = run_threads(3, [&](int rank) {
    const bool well = job.watchdogs[static_cast<std::size_t>(rank)]->sign_off(kLong);
    const std::scoped_lock lock(mutex);
    left.push_back(well ? rank : -1);
    if (rank == 0) job.end_server();
  });
  CHECK(outcomes == Outcomes(3));
  CHECK(left.size() == 3);
  CHECK(std::find(left.begin(), left.end(), -1) == left.end());
  for (Ear& ear : job.ears) CHECK(ear.calls() == 0);
}

TEST_CASE("rank 0 waits for the others to leave, up to its limit") {
  Job job(2);
  job.join_all();
  CHECK_FALSE(job.watchdogs[0]->sign_off(Milliseconds(100)));
  CHECK(job.watchdogs[1]->sign_off(kLong));
  CHECK(job.ears[1].calls() == 0);
}

TEST_CASE("when rank 0's store goes away, every other rank notices") {
  Job job(2);
  job.join_all();
  job.watchdogs[1]->progress(9, kAllReduce);
  const std::string address = job.options(1).store.endpoint.text();
  job.end_server();
  const Failure failure = job.ears[1].failure();
  CHECK(message_of(failure) ==
        "rank 0 (" + address +
            "), step 9, all_reduce: no longer reachable from rank 1: its connection closed; see "
            "its output, and whether its machine ran out of memory");
  CHECK(failure.exit_code == 8);
  CHECK_FALSE(job.watchdogs[1]->sign_off(kLong));
}

TEST_CASE("a rank's own failure takes precedence over the loss of rank 0") {
  Job job(2);
  job.join_all();
  job.end_server();
  static_cast<void>(job.ears[1].failure());
  CHECK(job.watchdogs[1]->report("a bug", 1, false, kLong).text == "a bug");
  CHECK(job.watchdogs[1]->report("rank 0 is gone", 8, true, kLong).rank == 0);
}

TEST_CASE("a watchdog without an answer reports that") {
  Job job(1);
  WatchdogOptions options = job.options(0);
  options.store.token = "another";
  CHECK_THROWS_AS(Watchdog(options, [](const Failure&) {}), Error);
  options = job.options(5);
  CHECK_THROWS_AS(Watchdog(options, [](const Failure&) {}), Error);
}

TEST_CASE("a watchdog that breaks the rules is dropped, and its rank is lost") {
  Job job(2);
  job.join(0);
  RawClient other(job.options(1).store.endpoint.port);
  other.greet(kJobToken);
  other.send(encode(Message{.kind = MessageKind::join, .number = 1, .key = "host1"}));
  other.send("no message, but more than a header of bytes");
  const Failure failure = job.ears[0].failure();
  CHECK(failure.rank == 1);
  CHECK(failure.text.find("its connection closed without signing off") != std::string::npos);
}

TEST_CASE("a rank that joins after the failure is notified of it") {
  Job job(3);
  job.join(0);
  job.join(1);
  job.watchdogs[1].reset();
  static_cast<void>(job.ears[0].failure());
  job.join(2);
  CHECK(job.ears[2].failure().rank == 1);
}
