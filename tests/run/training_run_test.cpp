// Whole runs on failing GPUs simulated by the host: what ends them, and what they leave.
#include "run/training_run.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "base/host.h"
#include "logging_gpu.h"
#include "rank_sessions.h"
#include "report/status.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const std::string kNamed =
    "CUDA: an illegal memory access, on cuda:0 (simulated GPU, ffff:ff:1f.7) of " + host_name();

/// Trains as one of the ranks, into `folder`. The signals are the process's.
void train(RankGroup& ranks, const StopSignals& signals, const DeviceChoice& choice,
           const std::filesystem::path& folder) {
  const Disk disk;
  const SystemClock clock;
  static_cast<void>(run_training({.config = read_run(kTenStepRun), .device = choice, .out = folder},
                                 disk, clock, signals, ranks));
}

/// How a run of one rank ends whose GPU fails to do this: the exit code, then the text.
std::string end_of(const std::string& doing, const std::filesystem::path& folder) {
  GpuEvents events;
  RankGroup alone({});
  const StopSignals signals;
  try {
    train(alone, signals, choice_of(logging_gpu(alone, events, fails_to(doing))), folder);
  } catch (const Error& error) {
    return std::to_string(error.exit_code()) + " " + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a run whose GPU fails ends with exit code 8 and names the GPU, also in its status") {
  const testing::TemporaryFolder folder;
  CHECK(end_of("record", folder / "run") == "8 " + kNamed);
  const auto status = read_status(folder / "run" / "status.json");
  REQUIRE(status.has_value());
  CHECK(status->state == RunState::failed);
  CHECK(status->exit_code == 8);
  CHECK(status->message == kNamed);
}

TEST_CASE("a GPU that fails before the run starts is named too, and leaves no folder") {
  const testing::TemporaryFolder folder;
  CHECK(end_of("make executors", folder / "run") == "8 " + kNamed);
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

TEST_CASE("rank 0 names the GPU of the rank that failed") {
  const testing::TemporaryFolder folder;
  const StopSignals signals;
  const testing::Outcomes outcomes = run_groups(2, [&](RankGroup& group) {
    GpuEvents events;
    const GpuFault fault = group.rank() == 1 ? fails_to("record") : [](std::string_view) {};
    train(group, signals, choice_of(logging_gpu(group, events, fault)), folder / "run");
  });
  CHECK(outcomes[0].starts_with("rank 1 (host1), step "));
  CHECK(outcomes[0].ends_with(": " + kNamed));
  CHECK(outcomes[1] == kNamed);
  CHECK(read_status(folder / "run" / "status.json")->message == outcomes[0]);
}
