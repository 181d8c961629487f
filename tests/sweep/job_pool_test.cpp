// The pool, with shells as jobs. They wait for events in files and FIFOs, never for time.
#include "sweep/job_pool.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <vector>

#include "../base/temporary_folder.h"

namespace trainyard {
namespace {

using namespace testing;

/// Shells in a folder of their own.
class ShellJobs {
 public:
  explicit ShellJobs(std::vector<std::string> scripts)
      : ends(scripts.size()), slots(scripts.size()), scripts_(std::move(scripts)) {}

  int run(std::size_t at_a_time) {
    const SystemClock clock;
    const PoolCalls calls{.job = [this](std::size_t i, std::size_t slot) { return job(i, slot); },
                          .started =
                              [this](std::size_t i) {
                                ++running_;
                                most = std::max(most, running_);
                                if (on_start) on_start(i);
                              },
                          .ended =
                              [this](std::size_t i, const PoolEnd& end) {
                                if (end.problem.empty()) --running_;
                                ends[i] = end;
                              }};
    return run_jobs(scripts_.size(), at_a_time, calls, clock);
  }

  TemporaryFolder folder;
  std::vector<std::optional<PoolEnd>> ends;
  std::vector<std::size_t> slots;
  int most = 0;  // most that ran at the same time
  std::function<void(std::size_t)> on_start;

 private:
  PoolJob job(std::size_t i, std::size_t slot) {
    slots[i] = slot;
    const bool missing = scripts_[i] == "missing";
    return {.command = {.program = missing ? "/nonexistent/program" : "/bin/sh",
                        .arguments = {"-c", scripts_[i]},
                        .environment = {"PATH=/usr/bin:/bin"},
                        .folder = folder.path()},
            .log = folder / ("logs/" + std::to_string(i) + ".log")};
  }

  std::vector<std::string> scripts_;
  int running_ = 0;
};

TEST_CASE("all jobs run, at most as many at a time as there are slots, and failures end no other") {
  ShellJobs jobs({"exit 3", "kill -9 $$", "exit 0", "exit 0", "exit 5", "exit 0"});
  CHECK(jobs.run(2) == 0);
  CHECK(jobs.most == 2);
  REQUIRE(jobs.ends[5]);
  CHECK(jobs.ends[0]->end.exit_code == 3);
  CHECK(jobs.ends[1]->end.signal == SIGKILL);
  CHECK(jobs.ends[4]->end.exit_code == 5);
  CHECK(jobs.ends[5]->end.exit_code == 0);
  CHECK(std::ranges::max(jobs.slots) == 1);
}

TEST_CASE("a job that cannot be started is told, and the others run") {
  ShellJobs jobs({"missing", "exit 0"});
  CHECK(jobs.run(1) == 0);
  REQUIRE(jobs.ends[0]);
  CHECK(jobs.ends[0]->problem.find("/nonexistent/program") != std::string::npos);
  CHECK(jobs.ends[0]->end.exit_code == 8);
  CHECK(jobs.ends[1]->end.exit_code == 0);
}

TEST_CASE("both streams of a job are in its log, and an earlier log is replaced") {
  ShellJobs jobs({"echo out; echo error >&2"});
  jobs.folder.write("logs/0.log", "of an earlier start\n");
  CHECK(jobs.run(1) == 0);
  CHECK(text_of(jobs.folder / "logs/0.log") == "out\nerror\n");
}

TEST_CASE("a signal is passed on to what runs, and nothing is started after it") {
  for (const int signal : {SIGINT, SIGTERM}) {
    // The first job saves (writes a file) and ends by the signal, as train does.
    ShellJobs jobs({"trap 'echo saved >saved; trap - INT TERM; kill -" + std::to_string(signal) +
                        " $$' INT TERM; echo >ready; while :; do read -r line <never; done",
                    "exit 0"});
    REQUIRE(::mkfifo((jobs.folder / "ready").c_str(), 0600) == 0);
    REQUIRE(::mkfifo((jobs.folder / "never").c_str(), 0600) == 0);
    jobs.on_start = [&](std::size_t) {
      (void)text_of(jobs.folder / "ready");  // waits for the job
      ::raise(signal);
    };
    CHECK(jobs.run(1) == signal);
    REQUIRE(jobs.ends[0]);
    CHECK(jobs.ends[0]->end.signal == signal);
    CHECK(text_of(jobs.folder / "saved") == "saved\n");
    CHECK_FALSE(jobs.ends[1]);
  }
}

TEST_CASE("SIGUSR2 is passed on and stops nothing") {
  ShellJobs jobs(
      {"trap 'exit 7' USR2; echo >ready; while :; do read -r line <never; done", "exit 0"});
  REQUIRE(::mkfifo((jobs.folder / "ready").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((jobs.folder / "never").c_str(), 0600) == 0);
  jobs.on_start = [&](std::size_t i) {
    if (i > 0) return;
    (void)text_of(jobs.folder / "ready");
    ::raise(SIGUSR2);
  };
  CHECK(jobs.run(1) == 0);
  CHECK(jobs.ends[0]->end.exit_code == 7);
  REQUIRE(jobs.ends[1]);
  CHECK(jobs.ends[1]->end.exit_code == 0);
}

}  // namespace
}  // namespace trainyard
