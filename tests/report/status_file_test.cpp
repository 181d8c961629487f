#include <doctest/doctest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <semaphore>
#include <string>

#include "../base/manual_clock.h"
#include "../base/temporary_folder.h"
#include "report/status.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr std::int64_t kStatusNow = 951827696;

/// A disk that signals when a status has been written.
struct CountedDisk {
  std::counting_semaphore<> written{0};
  Disk disk{[this](DiskCall call) {
    if (call == DiskCall::rename) written.release();
    return 0;
  }};
  void wait_for(int writes) {
    for (int i = 0; i < writes; ++i) written.acquire();
  }
};

}  // namespace

TEST_CASE("status.json is updated periodically with the latest progress") {
  const TemporaryFolder folder;
  const ManualClock clock(kStatusNow);
  CountedDisk counted;
  ProgressNote note(clock, {});
  RunStatus status{.state = RunState::running, .epochs = 3};
  {
    StatusFile file(counted.disk, clock, note, folder / "status.json",
                    std::chrono::milliseconds(1));
    file.write(status);
    note.begin(RunPhase::evaluating);
    note.on_epoch({.epoch = 1, .step = 10, .loss = 0.25});
    // One of four renames is from write(), and one of the thread's may have begun before the notes.
    counted.wait_for(4);
  }
  status.updated = kStatusNow;
  status.at = note.now();
  CHECK(phase_of(status) == "evaluating");
  CHECK(text_of(folder / "status.json") == status_text(status));
}

TEST_CASE("the status of a finished run does not change") {
  const TemporaryFolder folder;
  const ManualClock clock(kStatusNow);
  CountedDisk counted;
  ProgressNote note(clock, {});
  RunStatus status{.state = RunState::running};
  StatusFile file(counted.disk, clock, note, folder / "status.json", std::chrono::milliseconds(1));
  file.write(status);
  status.state = RunState::completed;
  status.exit_code = 0;
  file.write(status);
  status.updated = kStatusNow;
  status.at = note.now();
  note.on_epoch({.epoch = 9});
  file.stop();
  CHECK(text_of(folder / "status.json") == status_text(status));
}

TEST_CASE("a disk that refuses the thread's status does not end the run") {
  const TemporaryFolder folder;
  const ManualClock clock(kStatusNow);
  std::counting_semaphore<> tried{0};
  std::atomic<bool> full = false;
  const Disk disk([&](DiskCall call) {
    if (!full || call != DiskCall::write) return 0;
    tried.release();
    return ENOSPC;
  });
  ProgressNote note(clock, {});
  StatusFile file(disk, clock, note, folder / "status.json", std::chrono::milliseconds(1));
  file.write({});
  full = true;
  for (int i = 0; i < 3; ++i) tried.acquire();
  full = false;
  file.write({.state = RunState::failed, .exit_code = 7});
  CHECK(read_status(folder / "status.json")->exit_code == 7);
}

TEST_CASE("nothing is written between updates: recording progress touches no file") {
  const TemporaryFolder folder;
  const ManualClock clock(kStatusNow);
  ProgressNote note(clock, {});
  const Disk disk;
  StatusFile file(disk, clock, note, folder / "status.json", std::chrono::hours(1));
  file.write({.state = RunState::running});
  const std::string before = text_of(folder / "status.json");
  note.on_step({.step = 1, .epoch = 1, .loss = 1});
  CHECK(text_of(folder / "status.json") == before);
}
