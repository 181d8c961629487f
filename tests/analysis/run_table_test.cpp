#include "analysis/run_table.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/hash.h"
#include "written_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// Two runs that differ in their rate, with paths relative to nothing.
std::vector<RecordedRun> two_runs() {
  const TemporaryFolder folder;
  std::vector<RecordedRun> runs = {
      read_recorded_run(write_run(folder, "a", "0.1", RunState::completed), kLater),
      read_recorded_run(write_run(folder, "b", "0.05", RunState::failed), kLater)};
  runs[0].folder = "runs/a";
  runs[1].folder = "runs/b";
  return runs;
}

/// A run of which only the folder is left.
RecordedRun lost_run() {
  RecordedRun run{.folder = "runs/lost", .state = "unknown"};
  return run;
}

}  // namespace

TEST_CASE("runs are rows with what differs between their configs and what they reached") {
  CHECK(run_table_text(tabulate(two_runs())) ==
        "run     state       epoch  best val_accuracy  at    loss  accuracy  val_loss  "
        "val_accuracy     time  optimizer.sgd.lr\n"
        "runs/a  complete      2/3             0.5000   1  1.2500    0.5000    1.7500        "
        "0.3750  0:00:09               0.1  *\n"
        "runs/b  failed (4)    2/3             0.5000   1  1.2500    0.5000    1.7500        "
        "0.3750  0:00:09              0.05\n"
        "*: the best val_accuracy; to train it again: train --config runs/a/config.yaml\n");
}

TEST_CASE("the CSV has the fixed columns first; a loss is best at its lowest") {
  std::vector<RecordedRun> runs = two_runs();
  runs.push_back(lost_run());
  CHECK(run_table_csv(tabulate(runs)) ==
        "run,state,exit_code,epoch,epochs,best_metric,best,best_epoch,elapsed_s,images_per_s,"
        "last_loss,best_loss,last_accuracy,best_accuracy,last_val_loss,best_val_loss,"
        "last_val_accuracy,best_val_accuracy,optimizer.sgd.lr\n"
        "runs/a,complete,0,2,3,val_accuracy,0.5,1,8.5,110,1.25,1.25,0.5,0.5,1.75,1.25,0.375,0.5,"
        "0.1\n"
        "runs/b,failed,4,2,3,val_accuracy,0.5,1,8.5,110,1.25,1.25,0.5,0.5,1.75,1.25,0.375,0.5,"
        "0.05\n"
        "runs/lost,unknown,,,,,,,,,,,,,,,,,\n");
}

TEST_CASE("JSON has the same values; unknown ones are null") {
  const std::vector<RecordedRun> runs = {two_runs()[1], lost_run()};
  const Json json = run_table_json(tabulate(runs, {"optimizer.sgd.lr", "batch.total"}));
  CHECK(json["keys"] == Json{"optimizer.sgd.lr", "batch.total"});
  const Json& failed = json["runs"][0];
  CHECK(failed["exit_code"] == 4);
  CHECK(failed["best"] == Json{{"metric", "val_accuracy"}, {"value", 0.5}, {"epoch", 1}});
  CHECK(failed["metrics"]["val_loss"] == Json{{"last", 1.75}, {"best", 1.25}});
  CHECK(failed["config"] == Json{{"optimizer.sgd.lr", "0.05"}, {"batch.total", ""}});
  CHECK(json["runs"][1]["exit_code"].is_null());
  CHECK(json["runs"][1]["best"].is_null());
}

TEST_CASE("a table for people shows few keys and says that there are more") {
  std::vector<RecordedRun> runs = two_runs();
  runs[1].config = config::Node{.kind = config::Node::Kind::map};
  const std::string text = run_table_text(tabulate(runs), 0, 1);
  CHECK(text.find("  name\n") != std::string::npos);
  CHECK(text.find("\n2 more keys differ: --csv FILE and --json have all of them\n") !=
        std::string::npos);
}

TEST_CASE("runs that are judged by different metrics name theirs") {
  std::vector<RecordedRun> runs = two_runs();
  runs[1].status->best = BestValue{"val_loss", 1.25, 1};
  const std::string text = run_table_text(tabulate(runs));
  CHECK(text.find("  val_accuracy 0.5000  ") != std::string::npos);
  CHECK(text.find("  val_loss 1.2500  ") != std::string::npos);
}

TEST_CASE("large and small numbers are short") {
  std::vector<RecordedRun> runs = two_runs();
  const auto best_of = [&](double value) {
    runs[0].status->best->value = value;
    runs[1].status->best.reset();
    const std::string text = run_table_text(tabulate(runs));
    const std::string row = text.substr(text.find("2/3") + 3);
    return row.substr(row.find_first_not_of(' '),
                      row.find(" ", row.find_first_not_of(' ')) - row.find_first_not_of(' '));
  };
  CHECK(best_of(43177167718.4) == "4.3e10");
  CHECK(best_of(-1e300) == "-1.0e300");
  CHECK(best_of(43177.1677) == "43177.2");
  CHECK(best_of(999.5) == "999.5000");
  CHECK(best_of(0.0000125) == "1.25e-5");
  CHECK(best_of(0) == "0.0000");
}

TEST_CASE("lines fit the terminal: columns are left out, then paths cut at their front") {
  const std::vector<RecordedRun> runs = two_runs();
  const RunTable table = tabulate(runs);
  for (const int width : {110, 100, 80, 60, 40}) {
    CAPTURE(width);
    const std::string text = run_table_text(table, width);
    const std::string lines = text.substr(0, text.find("\n*:"));
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos && begin < lines.size(); begin = end + 1) {
      end = lines.find('\n', begin);
      const std::string line = lines.substr(begin, end - begin);
      if (line.find("left out") == std::string::npos) {
        CHECK(line.size() <= static_cast<std::size_t>(width));
      }
      if (end == std::string::npos) break;
    }
    CHECK(text.find("left out for lack of room") != std::string::npos);
    CHECK(text.find("best val_accuracy") != std::string::npos);
  }
}

TEST_CASE("rows are sorted by any column, the best first and what is unknown last") {
  std::vector<RecordedRun> runs = two_runs();
  runs.push_back(lost_run());
  runs[1].status->best->value = 0.75;
  const auto sorted = [&](const std::string& column) {
    RunTable table = tabulate(runs);
    sort_rows(table, column);
    std::string order;
    for (const RunTableRow& row : table.rows) order += row.run.back();
    return order;
  };
  CHECK(sorted("best") == "bat");
  CHECK(sorted("optimizer.sgd.lr") == "bat");
  CHECK(sorted("lr") == "bat");
  CHECK(sorted("val_loss") == "abt");
  CHECK(sorted("best_accuracy") == "abt");
  CHECK(sorted("time") == "abt");
  RunTable table = tabulate(runs);
  CHECK_THROWS_WITH_AS(sort_rows(table, "val_los"),
                       doctest::Contains("there is no column 'val_los'; did you mean 'val_loss'?"),
                       Error);
  CHECK(best_row(table) == 1);
}

// One comparison for each pair of columns would take minutes.
TEST_CASE("a table of 300,000 columns is made in seconds" * doctest::timeout(30)) {
  std::vector<RecordedRun> runs = two_runs();
  std::vector<std::string>& columns = runs[0].epochs.columns;
  columns.clear();
  for (int i = 0; i < 300'000; ++i) columns.push_back("m" + std::to_string(i));
  runs[0].epochs.rows = {std::vector<std::optional<double>>(columns.size(), 1.0)};
  CHECK(tabulate(runs).measured.size() == 300'004);
}

TEST_CASE("the difference of two runs is that of their resolved configs") {
  std::vector<RecordedRun> runs = two_runs();
  CHECK(differences_text(run_differences(runs[0], runs[1])) == "optimizer.sgd.lr: 0.1 -> 0.05\n");
  CHECK(differences_text(run_differences(runs[0], runs[0])) == "the configs are the same\n");
  CHECK(differences_json(run_differences(runs[0], runs[1])) ==
        Json{{"optimizer.sgd.lr", {{"before", "0.1"}, {"after", "0.05"}}}});
  RecordedRun lost = lost_run();
  lost.problems = {"cannot open it"};
  CHECK_THROWS_WITH_AS(static_cast<void>(run_differences(runs[0], lost)),
                       "the config of 'runs/lost' cannot be read: cannot open it", Error);
}

TEST_CASE("what determines a result besides the config is compared, the number of threads is not") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& name, const std::string& threads, const Json& record) {
    folder.write(name + "/config.yaml", "name: tiny\nthreads: " + threads + "\n");
    folder.write(name + "/run.json", json_text(record));
    return read_recorded_run(folder / name, kLater);
  };
  Json record{{"id", "x"},
              {"ranks", 1},
              {"global_batch", 16},
              {"train_fingerprint", "ab"},
              {"val_fingerprint", "cd"},
              {"device", "cpu"},
              {"target", "cpu"},
              {"libraries", "a library"},
              {"choices", Json::object()},
              {"version", "1"}};
  const RecordedRun first = read("a", "1", record);
  CHECK(run_differences(first, read("b", "2", record)).empty());
  record["ranks"] = 2;
  record["resumes"] = {{{"ranks", 4}, {"global_batch", 16}}, {{"ranks", 2}, {"global_batch", 32}}};
  record["init"] = {{"hash", "ef"}};
  record["val_fingerprint"] = "xy";
  record["choices"] = {{"conv", "an engine"}};
  record["version"] = "2";
  const RecordedRun other = read("b", "2", record);
  const std::string kernels = "cpu, a library, " + hash128_hex(record["choices"].dump());
  CHECK(differences_text(run_differences(first, other)) ==
        "run.init: (not set) -> ef\nrun.ranks: 1 -> 2, 4\nrun.global_batch: 16 -> 16, 32\n"
        "run.val_data: cd -> xy\nrun.kernels: cpu, a library -> " +
            kernels + "\nrun.version: 1 -> 2\n");
  const RecordedRun unknown = read("c", "3", Json::array());
  const std::vector<RecordedRun> runs = {first, other, unknown};
  const RunTable table = tabulate(runs);
  CHECK(table.keys == std::vector<std::string>{"run.init", "run.ranks", "run.global_batch",
                                               "run.val_data", "run.kernels", "run.version"});
  CHECK(table.rows[1].values ==
        std::vector<std::string>{"ef", "2, 4", "16, 32", "xy", kernels, "2"});
  CHECK(table.rows[2].values == std::vector<std::string>(6));
  CHECK(tabulate(runs, {"threads", "run.train_data"}).rows[0].values ==
        std::vector<std::string>{"1", "ab"});
}
