#include "run/health.h"

#include <doctest/doctest.h>

#include "../base/manual_clock.h"
#include "../base/temporary_folder.h"
#include "base/host.h"
#include "run/run_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr std::int64_t kNow = 951827696;

/// A run that trains, seen two seconds after its status was written.
RunHealth seen() {
  return {.folder = "runs/x/0001",
          .status = {.state = RunState::running,
                     .pid = 77,
                     .host = "box",
                     .updated = kNow - 2,
                     .at = {.phase = RunPhase::training,
                            .progressed = kNow - 3,
                            .hang_after_seconds = 60,
                            .epoch = 2,
                            .step = 25,
                            .loss = 0.5,
                            .eta_seconds = 65,
                            .images_per_s = 100},
                     .epochs = 4,
                     .steps = 40,
                     .steps_per_epoch = 10,
                     .best = BestValue{"val_accuracy", 0.25, 2}},
          .now = kNow,
          .locked = true,
          .here = true,
          .resumable = true};
}

void expect(const RunHealth& run, const std::string& verdict, int exit_code) {
  const RunHealth health = judged(run);
  CHECK(health.verdict == verdict);
  CHECK(health.exit_code == exit_code);
}

}  // namespace

TEST_CASE("a run whose process holds its folder and makes progress is working") {
  expect(seen(), "working", 10);
}

TEST_CASE("a run without progress for longer than its limit hangs, even if its status is updated") {
  RunHealth run = seen();
  run.status.at.progressed = kNow - 60;
  expect(run, "working", 10);
  run.status.at.progressed = kNow - 61;
  expect(run, "hangs", 11);
  CHECK(judged(run).reason.find("no progress for 61 s, more than 60 s") != std::string::npos);
}

TEST_CASE("a stopped process hangs at once, one with a stale status after a minute") {
  RunHealth run = seen();
  run.stopped = true;
  expect(run, "hangs", 11);
  CHECK(judged(run).advice == "continue with: kill -CONT 77");
  run = seen();
  run.status.updated = kNow - 61;
  expect(run, "hangs", 11);
  CHECK(judged(run).reason.find("not written its status for 61 s") != std::string::npos);
}

TEST_CASE("a run that has not ended and whose folder no process holds is dead") {
  RunHealth run = seen();
  run.locked = false;
  expect(run, "dead", 12);
  CHECK(judged(run).advice.find("train resume") != std::string::npos);
  run.resumable = false;
  CHECK(judged(run).advice == "start it again: nothing has been trained");
}

TEST_CASE(
    "a lock of another machine may be invisible: a fresh status counts as alive for a minute") {
  RunHealth run = seen();
  run.locked = run.here = false;
  expect(run, "working", 10);
  run.status.updated = kNow - 61;
  expect(run, "dead", 12);
}

TEST_CASE("a run that has ended has its own exit code, whoever holds its folder") {
  RunHealth run = seen();
  run.status.state = RunState::completed;
  run.status.exit_code = 0;
  run.status.updated = run.status.at.progressed = kNow - 100000;
  expect(run, "complete", 0);
  CHECK(judged(run).advice.empty());
  run.locked = false;
  expect(run, "complete", 0);
  run.status.state = RunState::stopped;
  run.status.exit_code = 75;
  expect(run, "stopped", 75);
  CHECK(judged(run).advice.find("train resume") != std::string::npos);
}

TEST_CASE("doctor prints the verdict, the phase, the position and the last progress") {
  const RunHealth run = seen();
  CHECK(health_text(judged(run)) ==
        "working: runs/x/0001 is training\n"
        "  process 77 on box is alive; it counts as hung after 60 s without progress\n"
        "  epoch 3 of 4, step 25 of 40, loss 0.5000, 100 img/s, 0:01:05 left\n"
        "  best val_accuracy: 0.2500 (epoch 2)\n"
        "  last progress 0:00:03 ago, at 2000-02-29T12:34:53Z\n");
  RunHealth of_texts = run;
  of_texts.status.unit = "seq";
  CHECK(health_text(judged(of_texts)).find(", 100 seq/s, ") != std::string::npos);
  const Json json = health_json(judged(run));
  CHECK(json.at("verdict") == "working");
  CHECK(json.at("seconds_since_progress") == 3);
  CHECK(json.at("lives") == true);
}

TEST_CASE("looking at a run detects whether a process holds it, and disturbs none that starts") {
  const TemporaryFolder folder;
  const Disk disk;
  const ManualClock clock(kNow);
  const auto path = folder / "a";
  {
    const RunFolder run = RunFolder::create_at(disk, path);
    put_text(path / "status.json", status_text({.pid = 77, .host = host_name()}));
    const RunHealth run_seen = look_at_run(path, clock);
    CHECK(run_seen.locked);
    CHECK(run_seen.here);
    CHECK_FALSE(run_seen.resumable);
    CHECK(run_seen.now == kNow);
  }
  CHECK_FALSE(look_at_run(path, clock).locked);
  put_text(path / "config.yaml", "");
  CHECK(look_at_run(path, clock).resumable);
  CHECK(RunFolder::open(disk, path).path() == path);  // looking has released the lock
}
