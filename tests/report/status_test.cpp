#include "report/status.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "../base/temporary_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("status.json has the fields and the order that scripts rely on") {
  const RunStatus status{.state = RunState::running,
                         .message = "",
                         .pid = 77,
                         .host = "box",
                         .started = 951827696,
                         .updated = 951827700,
                         .at = {.phase = RunPhase::evaluating,
                                .progressed = 951827699,
                                .hang_after_seconds = 60.5,
                                .epoch = 3,
                                .step = 1173,
                                .loss = 1.25,
                                .eta_seconds = 1044.5,
                                .images_per_s = 4112,
                                .data_wait_percent = 2.5},
                         .epochs = 90,
                         .steps = 35190,
                         .steps_per_epoch = 391,
                         .unit = "seq",
                         .best = BestValue{"val_accuracy", 0.5, 2},
                         .last_checkpoint = "epoch-0003_step-001173",
                         .resume_command = "train resume runs/x/0001",
                         .config_hash = "abc"};
  CHECK(status_text(status) == R"({
  "schema_version": 1,
  "state": "running",
  "phase": "evaluating",
  "exit_code": null,
  "message": "",
  "pid": 77,
  "host": "box",
  "started": "2000-02-29T12:34:56Z",
  "updated": "2000-02-29T12:35:00Z",
  "progressed": "2000-02-29T12:34:59Z",
  "hang_after_seconds": 61,
  "epoch": 3,
  "epochs": 90,
  "step": 1173,
  "steps": 35190,
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
  "unit": "seq",
  "data_wait_percent": 2.5,
  "resume_command": "train resume runs/x/0001",
  "config_hash": "abc"
}
)");
}

TEST_CASE("unknown values and NaN are null, and a finished run has its exit code") {
  const RunStatus status{.state = RunState::diverged,
                         .exit_code = 5,
                         .message = "loss is nan",
                         .at = {.loss = std::numeric_limits<double>::quiet_NaN()}};
  const std::string text = status_text(status);
  CHECK(text.find("\"state\": \"diverged\",\n  \"phase\": \"diverged\",\n  \"exit_code\": 5,\n  "
                  "\"message\": \"loss is nan\"") != std::string::npos);
  for (const char* field :
       {"loss", "best", "last_checkpoint", "eta_seconds", "images_per_s", "data_wait_percent"}) {
    CHECK(text.find("\"" + std::string(field) + "\": null") != std::string::npos);
  }
}

TEST_CASE("a status is read back, and a missing or broken one gives nothing") {
  const TemporaryFolder folder;
  const auto path = folder / "status.json";
  CHECK_FALSE(read_status(path).has_value());
  const RunStatus status{.state = RunState::saving,
                         .message = "m",
                         .pid = 77,
                         .host = "box",
                         .started = 951827696,
                         .updated = 951827700,
                         .at = {.phase = RunPhase::saving,
                                .progressed = 951827699,
                                .hang_after_seconds = 61,
                                .epoch = 2,
                                .step = 30,
                                .loss = 1.25,
                                .eta_seconds = 4,
                                .images_per_s = 100,
                                .data_wait_percent = 0.5},
                         .epochs = 5,
                         .steps = 55,
                         .steps_per_epoch = 12,
                         .best = BestValue{"val_accuracy", 0.5, 2},
                         .last_checkpoint = "c",
                         .resume_command = "r",
                         .config_hash = "abc"};
  put_text(path, status_text(status));
  const auto read = read_status(path);
  REQUIRE(read.has_value());
  CHECK(status_text(*read) == status_text(status));
  for (const char* text : {"", "{", "[]", "{\"state\": 3}",
                           R"({"state": "x", "config_hash": "", "epoch": 1, "epochs": 2})"}) {
    put_text(path, text);
    CHECK_FALSE(read_status(path).has_value());
  }
}

TEST_CASE("a status of an older version is read, without the fields it lacks") {
  const TemporaryFolder folder;
  put_text(folder / "status.json", R"({"state": "stopped", "config_hash": "abc", "epoch": 1,
                                       "epochs": 2, "loss": null})");
  const auto status = read_status(folder / "status.json");
  REQUIRE(status.has_value());
  CHECK(status->state == RunState::stopped);
  CHECK(status->config_hash == "abc");
  CHECK(status->at.epoch == 1);
  CHECK(status->epochs == 2);
  CHECK_FALSE(status->at.loss.has_value());
  CHECK_FALSE(status->exit_code.has_value());
}
