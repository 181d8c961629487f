#include "analysis/recorded_run.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "written_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// The runs found, without the folder's own path.
std::vector<std::string> found(const TemporaryFolder& folder,
                               const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) paths.push_back((folder / argument).string());
  std::vector<std::string> names;
  for (const auto& run : find_runs(paths)) {
    names.push_back(std::filesystem::relative(run, folder.path()).string());
  }
  return names;
}

std::string refusal(const TemporaryFolder& folder, const std::string& argument) {
  try {
    static_cast<void>(found(folder, {argument}));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::command_line);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("runs are found by folder, by folders above them, and by pattern, each once") {
  const TemporaryFolder folder;
  for (const char* name : {"runs/b/0001", "runs/a/0002", "runs/a/0001"}) {
    write_run(folder, name, "0.1", RunState::completed);
  }
  folder.write("runs/table.csv", "x");
  folder.write("runs/a/0003/.lock", "");
  CHECK(found(folder, {"runs/b/0001"}) == std::vector<std::string>{"runs/b/0001"});
  CHECK(found(folder, {"runs"}) ==
        std::vector<std::string>{"runs/a/0001", "runs/a/0002", "runs/b/0001"});
  CHECK(found(folder, {"runs/*"}) ==
        std::vector<std::string>{"runs/a/0001", "runs/a/0002", "runs/b/0001"});
  CHECK(found(folder, {"runs/?/0001"}) == std::vector<std::string>{"runs/a/0001", "runs/b/0001"});
  CHECK(found(folder, {"runs/b", "runs/a/0002", "runs"}) ==
        std::vector<std::string>{"runs/b/0001", "runs/a/0002", "runs/a/0001"});
}

TEST_CASE("an argument without a run is refused by its kind") {
  const TemporaryFolder folder;
  write_run(folder, "runs/lr-1", "0.1", RunState::completed);
  folder.write("empty/note.txt", "x");
  CHECK(refusal(folder, "runs/mo-*") == "no run matches '" + (folder / "runs/mo-*").string() + "'");
  CHECK(refusal(folder, "empty") ==
        "'" + (folder / "empty").string() + "' is not a run folder, and there are no runs in it");
  CHECK(refusal(folder, "empty/note.txt").find("is not a run folder") != std::string::npos);
  CHECK(refusal(folder, "runs/lr-2") == "there is no run folder '" +
                                            (folder / "runs/lr-2").string() + "'; did you mean '" +
                                            (folder / "runs/lr-1").string() + "'?");
}

TEST_CASE("the state of a run is doctor's, its exit code its own") {
  const TemporaryFolder folder;
  const auto read = [&](RunState state) {
    return read_recorded_run(write_run(folder, "r", "0.1", state), kLater);
  };
  const RecordedRun complete = read(RunState::completed);
  CHECK(complete.state == "complete");
  CHECK(complete.exit_code == 0);
  CHECK(complete.problems.empty());
  CHECK(complete.epochs.values("val_loss") == std::vector<std::optional<double>>{1.25, 1.75});
  CHECK(read(RunState::failed).state == "failed");
  CHECK(read(RunState::failed).exit_code == 4);
  CHECK(read(RunState::running).state == "dead");
  CHECK_FALSE(read(RunState::running).exit_code.has_value());
}

TEST_CASE("what a run lacks is a problem of its own; the rest is read") {
  const TemporaryFolder folder;
  const auto path = write_run(folder, "r", "0.1", RunState::completed);
  std::filesystem::remove(path / "status.json");
  folder.write("r/metrics.csv", "epoch,loss\n1,2\n2,x\n");
  const RecordedRun run = read_recorded_run(path, kLater);
  CHECK(run.state == "unknown");
  CHECK(run.config.kind == config::Node::Kind::map);
  REQUIRE(run.problems.size() == 2);
  CHECK(run.problems[0] ==
        "'" + path.string() + "' has no status.json: how its run ended is not known");
  CHECK(run.problems[1] == (path / "metrics.csv").string() +
                               ":3:1: expected a number, found 'x'; fix or remove the line");
}

TEST_CASE("a table that is being written is read up to its last whole line") {
  const TemporaryFolder folder;
  const auto path = folder.write("metrics.csv", "epoch,loss,val_loss\n1,nan,\n2,0.5,1");
  const CsvTable table = read_csv_table(path);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.values("epoch")[0] == 1);
  CHECK_FALSE(table.values("loss")[0].has_value());
  CHECK_FALSE(table.values("val_loss")[0].has_value());
  CHECK(table.values("lr").empty());
  CHECK(read_csv_table(folder / "missing.csv").columns.empty());
  const auto short_row = folder.write("short.csv", "epoch,loss\n1\n");
  CHECK_THROWS_WITH_AS(static_cast<void>(read_csv_table(short_row)),
                       (short_row.string() + ":2:1: expected 2 fields, as the first line has, "
                                             "found 1; fix or remove the line")
                           .c_str(),
                       Error);
}
