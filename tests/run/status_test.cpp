#include "run/status.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "../base/failure_at.h"
#include "../base/temporary_folder.h"

using namespace trainyard;
using trainyard::testing::FailureAt;
using trainyard::testing::put_text;
using trainyard::testing::TemporaryFolder;
using trainyard::testing::text_of;

TEST_CASE("status.json has the fields and the order that scripts rely on") {
  const RunStatus status{.state = RunState::running,
                         .message = "",
                         .pid = 77,
                         .host = "box",
                         .started = 951827696,
                         .updated = 951827700,
                         .epoch = 3,
                         .epochs = 90,
                         .step = 1173,
                         .steps_per_epoch = 391,
                         .loss = 1.25,
                         .best = BestValue{"val_accuracy", 0.5, 2},
                         .last_checkpoint = "epoch-0003_step-001173",
                         .eta_seconds = 1044.5,
                         .images_per_s = 4112,
                         .resume_command = "train resume runs/x/0001",
                         .config_hash = "abc"};
  CHECK(status_text(status) == R"({
  "schema_version": 1,
  "state": "running",
  "exit_code": null,
  "message": "",
  "pid": 77,
  "host": "box",
  "started": "2000-02-29T12:34:56Z",
  "updated": "2000-02-29T12:35:00Z",
  "epoch": 3,
  "epochs": 90,
  "step": 1173,
  "steps_per_epoch": 391,
  "loss": 1.25,
  "best": {
    "metric": "val_accuracy",
    "value": 0.5,
    "epoch": 2
  },
  "last_checkpoint": "epoch-0003_step-001173",
  "eta_seconds": 1044.5,
  "images_per_s": 4112.0,
  "resume_command": "train resume runs/x/0001",
  "config_hash": "abc"
}
)");
}

TEST_CASE("what is not known or no number is null, and a finished run has its exit code") {
  const RunStatus status{.state = RunState::diverged,
                         .exit_code = 5,
                         .message = "loss is nan",
                         .loss = std::numeric_limits<double>::quiet_NaN()};
  const std::string text = status_text(status);
  CHECK(
      text.find("\"state\": \"diverged\",\n  \"exit_code\": 5,\n  \"message\": \"loss is nan\"") !=
      std::string::npos);
  for (const char* field : {"loss", "best", "last_checkpoint", "eta_seconds", "images_per_s"}) {
    CHECK(text.find("\"" + std::string(field) + "\": null") != std::string::npos);
  }
}

TEST_CASE("a status is read back, and a missing or broken one is none") {
  const TemporaryFolder folder;
  const auto path = folder / "status.json";
  CHECK_FALSE(read_status(path).has_value());
  put_text(path, status_text(
                     {.state = RunState::stopped, .epoch = 2, .epochs = 5, .config_hash = "abc"}));
  const auto summary = read_status(path);
  REQUIRE(summary.has_value());
  CHECK(summary->state == "stopped");
  CHECK(summary->config_hash == "abc");
  CHECK(summary->epoch == 2);
  CHECK(summary->epochs == 5);
  for (const char* text : {"", "{", "[]", "{\"state\": 3}"}) {
    put_text(path, text);
    CHECK_FALSE(read_status(path).has_value());
  }
}

TEST_CASE("updates come at most every 10 seconds, writes at once") {
  const TemporaryFolder folder;
  const FailureAt plan{.call = DiskCall::rename};
  const Disk disk(plan);
  StatusFile file(disk, folder / "status.json");
  RunStatus status;
  file.update(status, 0.0);
  CHECK(*plan.seen == 1);
  file.update(status, 9.9);
  CHECK(*plan.seen == 1);
  file.update(status, 10.0);
  CHECK(*plan.seen == 2);
  status.state = RunState::completed;
  file.write(status, 10.5);
  CHECK(*plan.seen == 3);
  CHECK(text_of(folder / "status.json") == status_text(status));
}
