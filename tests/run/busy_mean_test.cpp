#include "train/busy_mean.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "plain_host.h"
#include "run/config/run_config.h"
#include "run/session/session.h"
#include "train/trainer.h"

using namespace trainyard;

namespace {

/// Returns 10, 20, 30, ... and counts the queries.
struct Driver {
  int asked = 0;
  std::function<std::optional<double>()> reader() {
    return [this] { return std::optional<double>(10.0 * ++asked); };
  }
};

constexpr const char* kBusyRun = R"(
name: tiny
network: {input: [3, 4, 4], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 4, 4], classes: 4, size: 80}
  val: {source: synthetic, shape: [3, 4, 4], classes: 4, size: 8, split: test}
  workers: 0
batch: {per_gpu: 8}
loss: cross_entropy
optimizer: {sgd: {lr: 0.01}}
epochs: 3
)";

RunConfig read_busy_run() {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("busy-mean-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << kBusyRun;
  RunConfig run = read_run_config(path, {});
  std::filesystem::remove(path);
  return run;
}

/// Five readings of the clock a second.
class BusyHost final : public test::PlainHost {
 public:
  explicit BusyHost(Driver& driver) : PlainHost(0.2), reader_(driver.reader()) {}
  std::optional<double> gpu_busy_percent() override { return reader_(); }

 private:
  std::function<std::optional<double>()> reader_;
};

/// Stores each epoch's mean, and the number of driver queries until then.
struct Recorder final : MetricsSink {
  const Driver& driver;
  std::vector<std::optional<double>> means;
  std::vector<int> asked;

  explicit Recorder(const Driver& told) : driver(told) {}
  void on_epoch(const EpochRow& row) override {
    means.push_back(row.gpu_util_percent);
    asked.push_back(driver.asked);
  }
  void on_step(const StepRow&) override {}
};

}  // namespace

TEST_CASE(
    "a GPU is read once per second, however often time is reported, and the mean is of the "
    "readings") {
  Driver driver;
  BusyMean mean(driver.reader());
  mean.start(100);
  for (int quarter = 1; quarter <= 13; ++quarter) mean.read_if_due(100 + 0.25 * quarter);
  CHECK(driver.asked == 3);
  CHECK(mean.mean().value() == 20);
  CHECK(driver.asked == 3);
}

TEST_CASE("an epoch starts afresh, without readings of the previous one") {
  Driver driver;
  BusyMean mean(driver.reader());
  mean.start(0);
  mean.read_if_due(1);
  mean.start(1.5);
  mean.read_if_due(2.25);
  CHECK(driver.asked == 1);
  mean.read_if_due(2.5);
  CHECK(mean.mean().value() == 20);
}

TEST_CASE("an epoch shorter than a second has the reading at its end") {
  Driver driver;
  BusyMean mean(driver.reader());
  mean.start(0);
  mean.read_if_due(0.5);
  CHECK(driver.asked == 0);
  CHECK(mean.mean().value() == 10);
}

TEST_CASE("without readings from the driver there is no mean") {
  BusyMean mean([] { return std::optional<double>(); });
  mean.start(0);
  mean.read_if_due(5);
  CHECK_FALSE(mean.mean().has_value());
}

TEST_CASE("a trainer's epochs have the mean of the readings during training") {
  RankGroup alone({});
  Session session(read_busy_run(), {.threads = 1}, nullptr, alone);
  session.model().initialize(1);
  Driver driver;
  Recorder recorder(driver);
  BusyHost host(driver);
  Trainer trainer({.step = session.step(),
                   .train = *session.data().train_feeder,
                   .val = *session.data().val_feeder,
                   .sink = recorder,
                   .ranks = alone,
                   .host = host},
                  {.epochs = 3}, {});
  CHECK(trainer.run() == Outcome::completed);
  REQUIRE(recorder.means.size() == 3);
  int before = 0;
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    const int readings = recorder.asked[epoch] - before;
    CHECK(readings > 1);
    CHECK(readings < session.batch().steps);
    // The driver returns 10 times the number of the query.
    const double first = before + 1, last = recorder.asked[epoch];
    CHECK(recorder.means[epoch].value() == doctest::Approx(10 * (first + last) / 2));
    before = recorder.asked[epoch];
  }
}
