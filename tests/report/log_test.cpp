#include <doctest/doctest.h>

#include <string>

#include "../base/failure_at.h"
#include "../base/manual_clock.h"
#include "../base/temporary_folder.h"
#include "report/sinks.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("each line of train.log has its time and is written at once, also after a resume") {
  const TemporaryFolder folder;
  const FailureAt plan{.call = DiskCall::write};
  const Disk disk(plan);
  ManualClock clock(951827696);
  {
    LogFile log(disk, clock, folder / "train.log");
    log.write("one\n");
    clock.advance(4);
    log.write("two\nthree");
  }
  LogFile log(disk, clock, folder / "train.log");
  log.write("");
  CHECK(*plan.seen == 3);
  CHECK(text_of(folder / "train.log") ==
        "2000-02-29T12:34:56Z one\n2000-02-29T12:35:00Z two\n2000-02-29T12:35:00Z three\n"
        "2000-02-29T12:35:00Z \n");
}

TEST_CASE("colours, bars and control characters do not reach the log, UTF-8 does") {
  CHECK(without_escapes("\x1b[1;31merror\x1b[0m: a\tb\r\n━ é\x7f") == "error: ab\n━ é");
  CHECK(without_escapes("cut \x1b[12") == "cut ");
  CHECK(without_escapes("\x1b") == "");
}

TEST_CASE("summary.txt says how the run ended") {
  const RunStatus status{.state = RunState::completed,
                         .at = {.epoch = 90, .step = 35190},
                         .best = BestValue{"val_accuracy", 0.9312, 84},
                         .last_checkpoint = "epoch-0090_step-035190"};
  SummaryDetails summary{.run = "runs/x/0001",
                         .changes = {"epochs=90", "seed=7"},
                         .seconds = 1102,
                         .best_values = {{"val_loss", 0.31}, {"val_accuracy", 0.9312}},
                         .warnings = {"gnuplot was not found"}};
  summary.last = {{"loss", 0.25}, {"accuracy", 0.875}, {"val_loss", 0.5}, {"val_accuracy", 0.75}};
  summary.clean = {.epoch = 80, .values = {{"clean_loss", 0.125}, {"clean_accuracy", 0.96875}}};
  CHECK(summary_text(status, summary) ==
        "run: runs/x/0001 (set: epochs=90, seed=7)\nstate: completed (exit code 0)\nepochs: "
        "90\nsteps: 35,190\n"
        "time: 0:18:22\nbest: val_accuracy 0.9312, val_loss 0.3100 (epoch 84)\n"
        "last: loss 0.2500, accuracy 0.8750, val_loss 0.5000, val_accuracy 0.7500\n"
        "clean: clean_loss 0.1250, clean_accuracy 0.9688 (epoch 80)\n"
        "checkpoint: epoch-0090_step-035190\nwarning: gnuplot was not found\n");
  CHECK(summary_text({.state = RunState::diverged, .exit_code = 5, .message = "loss is nan"},
                     {.run = "r"}) ==
        "run: r\nstate: diverged (exit code 5)\nmessage: loss is nan\nepochs: 0\nsteps: 0\n"
        "time: 0:00:00\n");
}
