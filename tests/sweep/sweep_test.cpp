#include "sweep/sweep.h"

#include <doctest/doctest.h>

#include <csignal>
#include <functional>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"

namespace trainyard {
namespace {

using namespace testing;

/// Runs with shells instead of training.
struct ShellSweep {
  explicit ShellSweep(const std::vector<std::string>& scripts) {
    std::string values = "script=";
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      values += (i == 0 ? "" : ",") + std::to_string(i);
    }
    axes.push_back(parse_axis(values));
    for (SweepPoint& point : grid_points(axes)) {
      runs.push_back(sweep_run(folder.path(), axes, std::move(point)));
    }
    request.command = [scripts](const SweepRun& run, std::size_t) {
      const auto index = static_cast<std::size_t>(std::stoi(run.point.values[0]));
      return SpawnCommand{.program = "/bin/sh", .arguments = {"-c", scripts[index]}};
    };
    request.tell = [this](const std::string& line) { lines.push_back(line); };
  }

  SweepResult run(std::function<bool()> may_start = nullptr) {
    request.runs = runs;
    request.may_start = std::move(may_start);
    return run_sweep(request, clock);
  }

  TemporaryFolder folder;
  SystemClock clock;
  std::vector<SweepAxis> axes;
  std::vector<SweepRun> runs;
  SweepRequest request;
  std::vector<std::string> lines;
};

TEST_CASE("what became of each run is told, and the exit code is that of the first failure") {
  ShellSweep sweep({"exit 0", "exit 5", "echo why; exit 4", "exit 9"});
  const SweepResult result = sweep.run();
  REQUIRE(sweep.lines.size() == 4);
  CHECK(sweep.lines[0].starts_with("1/4 script=0: completed in 0:00:0"));
  CHECK(sweep.lines[1].starts_with("2/4 script=1: diverged after "));
  CHECK(sweep.lines[2].starts_with("3/4 script=2: failed after "));
  CHECK(sweep.lines[2].find("with exit code 4; the end of " + sweep.runs[2].log.string() +
                            ":\nwhy") != std::string::npos);
  CHECK(exit_code_of(result.ends) == 4);
  CHECK(counts_text(result.ends) == "4 runs: 1 completed, 1 diverged, 2 failed");
}

TEST_CASE("runs that are over are not started again, and divergence alone is exit code 5") {
  ShellSweep sweep({"exit 9", "exit 9", "exit 0"});
  sweep.runs[0].before = SweepProgress::completed;
  sweep.runs[1].before = SweepProgress::diverged;
  const SweepResult result = sweep.run();
  REQUIRE(sweep.lines.size() == 1);
  CHECK(sweep.lines[0].starts_with("3/3 script=2: completed"));
  CHECK(exit_code_of(result.ends) == 5);
}

TEST_CASE("a run stopped by its own limit or alone makes exit code 75, unless another failed") {
  ShellSweep stopped({"exit 0", "kill -TERM $$", "exit 5"});
  CHECK(exit_code_of(stopped.run().ends) == 75);
  ShellSweep failed({"exit 75", "kill -KILL $$"});
  CHECK(exit_code_of(failed.run().ends) == 137);
}

TEST_CASE("runs that may no longer start wait, and the exit code is 75") {
  ShellSweep sweep({"exit 0", "exit 0"});
  int starts = 0;
  const SweepResult result = sweep.run([&] { return ++starts < 2; });
  CHECK(counts_text(result.ends) == "2 runs: 1 completed, 1 waiting");
  CHECK(exit_code_of(result.ends) == 75);
}

TEST_CASE("the table has a row for runs without a folder, with the values as typed") {
  ShellSweep sweep({"exit 4", "exit 0"});
  const SweepResult result = sweep.run();
  const RunTable table = results_of(sweep.axes, sweep.runs, result.ends, sweep.clock);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.keys == std::vector<std::string>{"script"});
  CHECK(table.rows[0].state == "failed");
  CHECK(table.rows[0].exit_code == 4);
  CHECK(table.rows[0].values == std::vector<std::string>{"0"});
}

TEST_CASE("one process at a time has the sweep of a folder") {
  const TemporaryFolder folder;
  const SweepLock lock(folder / "sweep");
  CHECK(error_of(ErrorKind::command_line, [&] { const SweepLock second(folder / "sweep"); }) ==
        "another process runs the sweep in '" + (folder / "sweep").string() +
            "'; wait until it ends, or give --out another folder");
}

}  // namespace
}  // namespace trainyard
