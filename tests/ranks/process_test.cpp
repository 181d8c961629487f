// Ranks as processes: the conformance suite, and ranks that die or stop.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <deque>

#include "conformance.h"
#include "rank_process.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Ranks of one job; rank 0 has reported its port.
std::deque<RankProgram> start_job(const std::string& work, int ranks) {
  std::deque<RankProgram> job;
  job.emplace_back(work, 0, ranks, std::uint16_t{0});
  const std::uint16_t port = job.front().port();
  for (int rank = 1; rank < ranks; ++rank) job.emplace_back(work, rank, ranks, port);
  return job;
}

void await_ready(std::deque<RankProgram>& job) {
  for (RankProgram& rank : job) REQUIRE(rank.line() == "ready");
}

/// Every rank but `dead` reports the failure, which begins with `begin`, and soon ends with code 8.
void check_end(std::deque<RankProgram>& job, std::size_t dead, const std::string& begin,
               const std::string& part) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t rank = 0; rank < job.size(); ++rank) {
    if (rank == dead) continue;
    const std::string said = job[rank].line();
    CAPTURE(rank);
    CAPTURE(said);
    CHECK(said.starts_with("failure: " + begin));
    CHECK(said.find(part) != std::string::npos);
    CHECK(job[rank].wait() == 8);
  }
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
}

}  // namespace

TEST_CASE("three processes pass the conformance suite") {
  for (const char* const suite : {"suite", "shared-suite"}) {
    std::deque<RankProgram> job = start_job(suite, 3);
    for (int rank = 0; rank < 3; ++rank) {
      RankProgram& process = job[static_cast<std::size_t>(rank)];
      CHECK(process.line() == "rank " + std::to_string(rank) + " of 3: " +
                                  std::to_string(checks_of_conformance(3)) + " checks, all well");
      CHECK(process.wait() == 0);
    }
  }
}

TEST_CASE("a killed process is named by all others") {
  std::deque<RankProgram> job = start_job("idle", 3);
  await_ready(job);
  job[1].signal(SIGKILL);
  check_end(job, 1, "rank 1 (host1), step ", "closed without signing off");
}

TEST_CASE("a process killed during all-reduces is the cause, not the all-reduces that fail") {
  for (const char* const sums : {"sums", "shared-sums"}) {
    for (const std::size_t dead : {1U, 2U}) {
      std::deque<RankProgram> job = start_job(sums, 3);
      await_ready(job);
      job[dead].signal(SIGKILL);
      const std::string number = std::to_string(dead);
      check_end(job, dead, "rank " + number + " (host" + number + "), step ",
                ": the process is gone: its connection closed");
    }
  }
}

TEST_CASE("a stopped process is named by all others") {
  for (const char* const sums : {"sums", "shared-sums"}) {
    std::deque<RankProgram> job = start_job(sums, 3);
    await_ready(job);
    job[2].signal(SIGSTOP);
    check_end(job, 2, "rank 2 (host2), step ", "no heartbeat for 1 s: the process is stopped");
  }
}

TEST_CASE("when rank 0 is killed or stopped, every other rank ends") {
  for (const int number : {SIGKILL, SIGSTOP}) {
    std::deque<RankProgram> job = start_job("idle", 3);
    await_ready(job);
    job[0].signal(number);
    check_end(job, 0, "rank 0 (127.0.0.1:", "step 5, idle: no longer reachable from rank ");
  }
}

TEST_CASE("when rank 0 is killed during all-reduces, every other rank ends") {
  for (const char* const sums : {"sums", "shared-sums"}) {
    std::deque<RankProgram> job = start_job(sums, 3);
    await_ready(job);
    job[0].signal(SIGKILL);
    check_end(job, 0, "rank ", "rank 0");
  }
}
