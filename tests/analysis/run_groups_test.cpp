// Means over seeds, compared with numbers computed by hand.
#include <doctest/doctest.h>

#include <cmath>

#include "analysis/run_table.h"
#include "base/error.h"
#include "written_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

struct WrittenRun {
  std::string rate, seed;
  double best = 0;
  RunState state = RunState::completed;
  std::string more;  // lines of its config
};

struct Grouped {
  RunTable table;
  std::vector<std::string> warnings;
};

Grouped grouped(const std::vector<WrittenRun>& written,
                const std::vector<std::string>& by = {"optimizer.sgd.lr"}) {
  const TemporaryFolder folder;
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const WrittenRun& run = written[i];
    const std::string name = std::to_string(i + 1);
    write_run(folder, name, run.rate, run.state);
    folder.write(name + "/config.yaml", "name: tiny\noptimizer: {sgd: {lr: " + run.rate +
                                            "}}\nepochs: 3\nseed: " + run.seed + "\n" + run.more);
    runs.push_back(read_recorded_run(folder / name, kLater));
    runs.back().folder = "runs/" + name;
    runs.back().status->best->value = run.best;
  }
  Grouped result;
  result.table =
      group_runs(runs, by, [&](const std::string& text) { result.warnings.push_back(text); });
  return result;
}

}  // namespace

TEST_CASE("runs that differ in their seed are a row with mean and deviation of a sample") {
  const Grouped groups = grouped({{"0.1", "1", 0.5},
                                  {"0.2", "1", 0.25},
                                  {"0.10", "2", 0.75},
                                  {"0.1", "3", 1.0},
                                  {"0.2", "2", 0.0, RunState::failed}});
  REQUIRE(groups.table.rows.size() == 2);
  const RunTableRow& first = groups.table.rows[0];
  CHECK(first.values == std::vector<std::string>{"0.1"});
  CHECK(first.best->value == doctest::Approx(0.75));
  CHECK(*first.group->best == doctest::Approx(0.25));  // sqrt((0.0625 + 0 + 0.0625) / 2)
  CHECK(first.group->seeds == std::vector<std::string>{"1", "2", "3"});
  CHECK(first.run == "runs/4");  // its best
  CHECK(*first.measured[0].last == 1.25);
  CHECK(*first.group->measured[0].last == 0);
  const RunTableRow& second = groups.table.rows[1];
  CHECK(second.best->value == 0.25);
  CHECK(!second.group->best.has_value());  // one run has none
  CHECK(second.group->left_out == std::vector<std::string>{"runs/5"});
  CHECK(best_row(groups.table) == 0);
  CHECK(groups.warnings.empty());
}

TEST_CASE("groups are printed, and as CSV and JSON with the same values") {
  const RunTable table = grouped({{"0.1", "1", 0.5}, {"0.2", "1", 0.25}, {"0.1", "2", 0.75}}).table;
  CHECK(run_table_text(table) ==
        "optimizer.sgd.lr  seeds  best val_accuracy              loss          accuracy          "
        "val_loss      val_accuracy     time\n"
        "             0.1      2   0.6250 +- 0.1768  1.2500 +- 0.0000  0.5000 +- 0.0000  1.7500 +- "
        "0.0000  0.3750 +- 0.0000  0:00:09  *\n"
        "             0.2      1             0.2500            1.2500            0.5000            "
        "1.7500            0.3750  0:00:09\n"
        "mean +- standard deviation of a sample, over seeds\n"
        "*: the best mean val_accuracy; to train its best run again: train --config "
        "runs/3/config.yaml\n");
  const std::string csv = run_table_csv(table);
  CHECK(
      csv.starts_with("optimizer.sgd.lr,seeds,left_out,best_metric,best,best_deviation,elapsed_s,"
                      "last_loss,last_loss_deviation,best_loss,best_loss_deviation,"));
  CHECK(csv.find("\n0.1,2,0,val_accuracy,0.625,0.17677669529663") != std::string::npos);
  CHECK(csv.find("\n0.2,1,0,val_accuracy,0.25,,8.5,1.25,,") != std::string::npos);
  const Json json = run_table_json(table);
  CHECK(json["by"] == Json{"optimizer.sgd.lr"});
  CHECK(json["groups"][0]["seeds"] == Json{"1", "2"});
  CHECK(json["groups"][0]["best"]["metric"] == "val_accuracy");
  CHECK(json["groups"][0]["best"]["mean"] == 0.625);
  CHECK(json["groups"][1]["best"]["deviation"].is_null());
  CHECK(json["groups"][0]["metrics"]["val_loss"]["last"]["mean"] == 1.75);
  CHECK(json["best"] == Json{{"run", "runs/3"}, {"command", "train --config runs/3/config.yaml"}});
}

TEST_CASE("groups are sorted by their means") {
  RunTable table = grouped({{"0.3", "1", 0.5}, {"0.2", "1", 0.75}, {"0.1", "1", 0.25}}).table;
  sort_rows(table, "best");
  CHECK(table.rows[0].values[0] == "0.2");
  sort_rows(table, "lr");
  CHECK(table.rows[0].values[0] == "0.1");
}

TEST_CASE("what would make a mean misleading is told") {
  const Grouped mixed = grouped({{"0.1", "1", 0.5, RunState::completed, "batch: 16\n"},
                                 {"0.1", "2", 0.5, RunState::completed, "batch: 32\n"}});
  CHECK(mixed.warnings == std::vector<std::string>{
                              "the runs of optimizer.sgd.lr=0.1 differ also in batch: their mean "
                              "is over that too; add it to --by"});
  CHECK(grouped({{"0.1", "1", 0.5, RunState::completed, "batch: 16\n"},
                 {"0.1", "2", 0.5, RunState::completed, "batch: 32\n"}},
                {"optimizer.sgd.lr", "batch"})
            .warnings.empty());
  const Grouped twice = grouped({{"0.1", "1", 0.5}, {"0.1", "1", 0.75}});
  CHECK(twice.table.rows[0].best->value == 0.75);
  CHECK(twice.warnings ==
        std::vector<std::string>{"runs/2 has the seed of runs/1: only the later one counts"});
}

TEST_CASE("a key that no run has is refused with those that differ") {
  CHECK_THROWS_WITH_AS(
      grouped({{"0.1", "1", 0.5}, {"0.2", "2", 0.5}}, {"optimizer.sgd.l"}),
      "--by: no run has a key 'optimizer.sgd.l'; did you mean 'optimizer.sgd.lr'? (keys that "
      "differ: optimizer.sgd.lr, seed)",
      Error);
}
