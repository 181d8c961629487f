#include <doctest/doctest.h>

#include "../base/manual_clock.h"
#include "report/status.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kProgressNow = 951827696;

}  // namespace

TEST_CASE(
    "each step records position, loss and throughput, and the eta follows from the steps so far") {
  ManualClock clock(kProgressNow);
  ProgressNote note(clock, {});
  note.start_training(0, 0, 20);
  clock.advance(4);
  note.on_step({.step = 2, .epoch = 1, .loss = 1.5, .images_per_s = 60, .data_wait_percent = 5});
  const RunProgress now = note.now();
  CHECK(now.epoch == 0);
  CHECK(now.step == 2);
  CHECK(now.loss == 1.5);
  CHECK(now.images_per_s == 60);
  CHECK(now.data_wait_percent == 5.0);
  CHECK(now.eta_seconds == 36);  // 18 steps of 2 s
  CHECK(now.progressed == kProgressNow + 4);
}

TEST_CASE("a resumed run counts only the steps of its own session") {
  ManualClock clock(kProgressNow);
  ProgressNote note(clock, {});
  note.recall({.epoch = 4, .step = 49, .loss = 0.5});
  CHECK(note.now().step == 49);
  CHECK(note.now().loss == 0.5);
  note.start_training(4, 40, 100);
  CHECK(note.now().step == 40);
  CHECK_FALSE(note.now().eta_seconds.has_value());
  clock.advance(10);
  note.on_step({.step = 50, .epoch = 5});
  CHECK(note.now().eta_seconds == 50);  // 50 steps of 1 s
}

TEST_CASE("phases, steps and batches are progress") {
  ManualClock clock(kProgressNow);
  ProgressNote note(clock, {});
  CHECK(note.now().progressed == kProgressNow);
  for (const RunPhase phase :
       {RunPhase::reading_data, RunPhase::evaluating, RunPhase::evaluating}) {
    clock.advance(7);
    CHECK(note.now().progressed == clock.utc_seconds() - 7);
    note.begin(phase);
    CHECK(note.now().phase == phase);
    CHECK(note.now().progressed == clock.utc_seconds());
  }
}

TEST_CASE("a run may pause longer during its start, and for as long as 20 of its steps") {
  ManualClock clock(kProgressNow);
  ProgressNote note(clock, {.first_step = 300, .step = 60});
  CHECK(note.now().hang_after_seconds == 300);
  note.start_training(0, 0, 1000);
  note.begin(RunPhase::training);
  CHECK(note.now().hang_after_seconds == 300);  // the first step captures, tunes, fills caches
  clock.advance(1);
  note.on_step({.step = 1, .epoch = 1});
  CHECK(note.now().hang_after_seconds == 60);
  clock.advance(9);
  note.on_step({.step = 2, .epoch = 1});
  CHECK(note.now().hang_after_seconds == 100);
  note.begin(RunPhase::saving);
  CHECK(note.now().hang_after_seconds == 100);
}

TEST_CASE("a finished epoch counts, and a finished run has no eta") {
  ManualClock clock(kProgressNow);
  ProgressNote note(clock, {});
  note.start_training(0, 0, 20);
  clock.advance(10);
  note.on_epoch({.epoch = 1, .step = 10, .loss = 0.75});
  CHECK(note.now().epoch == 1);
  CHECK(note.now().loss == 0.75);
  CHECK(note.now().eta_seconds == 10);
  note.end();
  CHECK_FALSE(note.now().eta_seconds.has_value());
}
