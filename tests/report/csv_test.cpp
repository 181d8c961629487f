#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../base/failure_at.h"
#include "../base/temporary_folder.h"
#include "base/error.h"
#include "base/text.h"
#include "report/csv_file.h"
#include "report/csv_sink.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr const char* kHeader =
    "epoch,step,samples,loss,accuracy,val_loss,val_accuracy,lr,grad_norm,skipped_steps,is_best,"
    "elapsed_s,epoch_s,images_per_s,gpu_mem_mib,gpu_util_percent,data_wait_percent";

EpochRow row_of(std::int64_t epoch) {
  EpochRow row;
  row.epoch = epoch;
  row.step = epoch * 391;
  row.samples = epoch * 50000;
  row.loss = 1.0 / 3.0;
  row.val_loss = 2.0;
  row.metrics = {{"accuracy", 0.4787, 0.5983}};
  row.lr = 5e-3;
  row.grad_norm = 1e-5;
  row.is_best = true;
  row.elapsed_s = 64.0004;
  row.epoch_s = 63.9996;
  row.images_per_s = 781.26;
  return row;
}

std::string file_after(std::int64_t epochs) {
  std::string text = std::string(kHeader) + "\n";
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    text += epoch_fields({}, row_of(epoch)).text();
  }
  return text;
}

}  // namespace

TEST_CASE("metrics.csv has its documented columns") {
  CHECK(joined(epoch_columns({}), ",") == kHeader);
  CHECK(joined(step_columns(), ",") ==
        "step,epoch,loss,lr,grad_norm,loss_scale,elapsed_s,images_per_s");
}

TEST_CASE("further metrics have val_ columns too, and regularisation follows the loss") {
  CHECK(joined(epoch_columns({.extra_metrics = {"top5_accuracy"}, .regularisation = true}), ",") ==
        "epoch,step,samples,loss,reg_loss,total_loss,accuracy,top5_accuracy,val_loss,val_accuracy,"
        "val_top5_accuracy,lr,grad_norm,skipped_steps,is_best,elapsed_s,epoch_s,images_per_s,"
        "gpu_mem_mib,gpu_util_percent,data_wait_percent");
  EpochRow row = row_of(1);
  row.reg_loss = 0.25;
  row.total_loss = 0.75;
  row.metrics.push_back({"top5_accuracy", std::nullopt, 0.875});
  const CsvRow fields =
      epoch_fields({.extra_metrics = {"top5_accuracy"}, .regularisation = true}, row);
  CHECK(fields.text().starts_with(
      "1,391,50000,0.3333333333333333,0.25,0.75,0.4787,,2,0.5983,0.875,0.005,"));
}

TEST_CASE("a clean pass has columns after the validation's, empty in other epochs") {
  const MetricsColumns columns{.extra_metrics = {"f1"}, .clean = true};
  CHECK(
      joined(epoch_columns(columns), ",").find(",val_f1,clean_loss,clean_accuracy,clean_f1,lr,") !=
      std::string::npos);
  EpochRow row = row_of(1);
  row.metrics.push_back({"f1", 0.5, 0.25});
  CHECK(epoch_fields(columns, row).text().find(",2,0.5983,0.25,,,,0.005,") != std::string::npos);
  row.clean_loss = 1.5;
  row.metrics[0].clean = 0.75;
  row.metrics[1].clean = 0.125;
  CHECK(epoch_fields(columns, row).text().find(",0.25,1.5,0.75,0.125,0.005,") != std::string::npos);
}

TEST_CASE("a row has shortest digits, empty fields if not measured, and nan and inf as words") {
  CHECK(epoch_fields({}, row_of(2)).text() ==
        "2,782,100000,0.3333333333333333,0.4787,2,0.5983,0.005,1e-05,0,1,64,64,781.3,,,\n");
  EpochRow row = row_of(2);
  row.loss = std::numeric_limits<double>::quiet_NaN();
  row.val_loss = -std::numeric_limits<double>::infinity();
  row.metrics.clear();
  row.grad_norm = std::numeric_limits<double>::infinity();
  row.is_best = false;
  row.gpu_mem_mib = 1024;
  row.gpu_util_percent = 200.0 / 3;
  row.data_wait_percent = 100.0 / 3;
  CHECK(epoch_fields({}, row).text() ==
        "2,782,100000,nan,,-inf,,0.005,inf,0,0,64,64,781.3,1024,66.7,33.3\n");
  CHECK(step_fields({.step = 7,
                     .epoch = 1,
                     .loss = 0.1,
                     .lr = 0.01,
                     .elapsed_s = 1.23456,
                     .images_per_s = 99.96})
            .text() == "7,1,0.1,0.01,,,1.235,100\n");
}

TEST_CASE("a metric without a column is a bug") {
  EpochRow row = row_of(1);
  row.metrics.push_back({"f1", 0.5, 0.5});
  CHECK_THROWS_AS((void)epoch_fields({}, row), Error);
}

TEST_CASE("each row is one write, and is in the file immediately") {
  const TemporaryFolder folder;
  const FailureAt plan{.call = DiskCall::write};
  const Disk disk(plan);
  CsvSink sink(disk, folder.path(), {}, {}, true);
  const int before = *plan.seen;
  sink.on_epoch(row_of(1));
  sink.on_step({.step = 1, .epoch = 1});  // a step without a sample that counts
  CHECK(*plan.seen == before + 2);
  CHECK(text_of(folder / "metrics.csv") == file_after(1));
  CHECK(text_of(folder / "steps.csv") == joined(step_columns(), ",") + "\n1,1,,0,,,0,0\n");
  sink.sync();
}

TEST_CASE("steps.csv is written only if requested") {
  const TemporaryFolder folder;
  const Disk disk;
  CsvSink sink(disk, folder.path(), {}, {}, false);
  sink.on_step({.step = 1, .epoch = 1});
  CHECK_FALSE(std::filesystem::exists(folder / "steps.csv"));
}

TEST_CASE("a resumed run trims both files to its checkpoint and continues") {
  const TemporaryFolder folder;
  const Disk disk;
  {
    CsvSink sink(disk, folder.path(), {}, {}, true);
    for (std::int64_t i = 1; i <= 5; ++i) sink.on_epoch(row_of(i));
    for (std::int64_t i = 1; i <= 9; ++i) sink.on_step({.step = i, .epoch = 1});
  }
  CsvSink sink(disk, folder.path(), {}, {.epoch = 3, .step = 7}, true);
  CHECK(text_of(folder / "metrics.csv") == file_after(3));
  sink.on_epoch(row_of(4));
  CHECK(text_of(folder / "metrics.csv") == file_after(4));
  CHECK(text_of(folder / "steps.csv").ends_with("7,1,,0,,,0,0\n"));
}

TEST_CASE("wherever a crash cut the file, earlier rows stay and the incomplete one is removed") {
  const std::string whole = file_after(3);
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    const std::string kept = kept_rows(whole.substr(0, cut), kHeader, 3, "metrics.csv");
    CHECK(whole.starts_with(kept));
    CHECK(kept.ends_with("\n"));
    // No whole row is lost: the rest of the cut text has no line feed.
    if (cut >= kept.size()) {
      CHECK(whole.substr(kept.size(), cut - kept.size()).find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("an invalid line is refused with its position if later rows would be lost") {
  const std::string good = file_after(2);
  for (const char* line :
       {"3,1,2", "x,", "", "Epoch 3/5 - loss: 1", "2,1,1,1,1,1,1,1,1,1,1,1,1,1,,,"}) {
    const std::string text = good + line + "\n" + epoch_fields({}, row_of(3)).text();
    try {
      (void)kept_rows(text, kHeader, 9, "metrics.csv");
      FAIL("no error for " << line);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::checkpoint);
      CHECK(std::string(error.what()) ==
            "metrics.csv:4:1: this is not a row of the table: found '" + std::string(line) +
                "', expected 17 fields, the first a number above 2; remove or fix the line, or "
                "move the file away, then resume");
    }
    CHECK(kept_rows(text, kHeader, 2, "metrics.csv") == good);  // all of it is trained again
  }
  CHECK(kept_rows(good + "2", kHeader, 9, "metrics.csv") == good);
}

TEST_CASE("a damaged header is reported as such") {
  const std::string rows = epoch_fields({}, row_of(1)).text();
  for (const std::string first : {"", "garbage", "epoch,step", "1,2,3", "\x01\x02"}) {
    try {
      (void)kept_rows(first + "\n" + rows, kHeader, 1, "m.csv");
      FAIL("no error for " << first);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::checkpoint);
      CHECK(std::string(error.what()).starts_with("m.csv:1:1: its header is damaged: found '"));
    }
  }
  CHECK_THROWS_AS((void)kept_rows("no line at all", kHeader, 1, "m.csv"), Error);
}

TEST_CASE("missing rows are reported") {
  CHECK(missing_rows("epoch,loss\n1,2\n2,2\n", 2).empty());
  CHECK(missing_rows("epoch,loss\n1,2\n5,2\n7,2\n", 9) == "2 to 4, 6, 8 to 9");
  CHECK(missing_rows("epoch,loss\n", 1) == "1");
  CHECK(missing_rows("epoch,loss\n", 0).empty());
  const TemporaryFolder folder;
  const Disk disk;
  const CsvSink sink(disk, folder.path(), {}, {.epoch = 3, .step = 9}, false);
  CHECK(sink.missing_rows() ==
        std::vector<std::string>{"metrics.csv lacks rows from before the resume: 1 to 3; they stay "
                                 "missing, training continues where it was"});
}

TEST_CASE("a file with other columns is refused with both lists") {
  const TemporaryFolder folder;
  const Disk disk;
  put_text(folder / "metrics.csv", "epoch,loss\n1,2\n");
  try {
    const CsvSink sink(disk, folder.path(), {}, {.epoch = 1, .step = 1}, false);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    CHECK(std::string(error.what()) == (folder / "metrics.csv").string() +
                                           ":1:1: its columns are 'epoch,loss', this run's are '" +
                                           kHeader +
                                           "'; resume with the settings that the run began with");
  }
  CHECK(text_of(folder / "metrics.csv") == "epoch,loss\n1,2\n");
}

TEST_CASE("a sink list passes every event to each sink, and the null sink accepts all") {
  struct Counter final : MetricsSink {
    int* count;
    explicit Counter(int* c) : count(c) {}
    void on_epoch(const EpochRow&) override { *count += 1; }
    void on_step(const StepRow&) override { *count += 10; }
    void sync() override { *count += 100; }
  };
  int first = 0;
  int second = 0;
  SinkList list;
  list.add(std::make_unique<Counter>(&first));
  list.add(std::make_unique<NullSink>());
  list.add(std::make_unique<Counter>(&second));
  list.on_epoch(row_of(1));
  list.on_step({});
  list.sync();
  CHECK(first == 111);
  CHECK(second == 111);
}

TEST_CASE("the validation values of an epoch are found by their columns") {
  const std::string csv =
      "epoch,step,loss,val_loss,val_accuracy,lr\n1,6,2,0.5,0.25,1\n12,72,1,,0.75,1\n";
  CHECK(validation_values(csv, 1) ==
        std::vector<NamedValue>{{"val_loss", 0.5}, {"val_accuracy", 0.25}});
  CHECK(validation_values(csv, 12) == std::vector<NamedValue>{{"val_accuracy", 0.75}});
  CHECK(validation_values(csv, 2).empty());
  CHECK(validation_values("", 1).empty());
}

TEST_CASE("the losses and metrics of the last row are found, also if they are not finite") {
  const std::string csv =
      "epoch,step,samples,loss,reg_loss,total_loss,accuracy,f1,val_loss,val_accuracy,val_f1,"
      "clean_loss,clean_accuracy,lr,grad_norm,skipped_steps,is_best,elapsed_s\n"
      "1,10,100,9,9,9,9,9,9,9,9,9,9,9,9,9,9,9\n"
      "2,20,200,1.5,0.1,1.6,0.5,,nan,0.25,inf,7,7,0.1,3,0,1,12.5\n";
  const std::vector<NamedValue> last = last_values(csv);
  REQUIRE(last.size() == 5);
  CHECK(last[0] == NamedValue{"loss", 1.5});
  CHECK(last[1] == NamedValue{"accuracy", 0.5});
  CHECK((last[2].name == "val_loss" && std::isnan(last[2].value)));
  CHECK(last[3] == NamedValue{"val_accuracy", 0.25});
  CHECK((last[4].name == "val_f1" && std::isinf(last[4].value)));
  CHECK(last_values("epoch,loss\n").empty());
  CHECK(last_values("").empty());
}

TEST_CASE("the values of the last clean pass are those of the last row that has any") {
  const std::string csv =
      "epoch,val_loss,clean_loss,clean_accuracy\n5,1,0.5,0.25\n10,1,0.375,0.75\n12,1,,\n";
  const EpochValues last = last_clean_values(csv);
  CHECK(last.epoch == 10);
  CHECK(last.values == std::vector<NamedValue>{{"clean_loss", 0.375}, {"clean_accuracy", 0.75}});
  CHECK(last_clean_values("epoch,val_loss\n1,2\n").epoch == 0);
  CHECK(last_clean_values("").values.empty());
}
