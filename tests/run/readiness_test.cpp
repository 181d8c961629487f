// Errors and warnings before step 1 of a run.
#include "run/readiness.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "report/plotter.h"
#include "run_text.h"

using namespace trainyard;

namespace {

constexpr const char* kReadyRun = R"(name: tiny
network: {input: [3, 8, 8], layers: [dense: 300, relu, dense: 4, softmax]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 32}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
  preprocess: [scale: $1/255]
batch: {per_gpu: 8}
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.1, momentum: 0.9}}
epochs: 3
threads: 1
)";

TrainingRequest request_in(const testing::TemporaryFolder& folder) {
  return {
      .config = test::read_run(kReadyRun), .out = folder / "new" / "run", .gnuplot = "/bin/true"};
}

std::vector<std::string> warnings_of(TrainingRequest request, const Disk& disk) {
  RankGroup alone({});
  return ready_run(request, alone, disk).warnings;
}

}  // namespace

TEST_CASE("a run that passes all checks has its initial weights and leaves no trace") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = request_in(folder);
  RankGroup alone({});
  const ReadyRun ready = ready_run(request, alone, Disk());
  CHECK(ready.warnings.empty());
  CHECK(ready.session->batch().steps == 4);
  CHECK_FALSE(std::filesystem::exists(folder / "new"));
}

TEST_CASE("a disk without room for a checkpoint is refused, one with little room gives a warning") {
  const testing::TemporaryFolder folder;
  // 0.45 MiB of weights and momentum; the spare MiB is for everything else.
  const std::string refused = testing::error_of(ErrorKind::disk, [&] {
    static_cast<void>(warnings_of(request_in(folder), Disk(nullptr, 1 << 20)));
  });
  CHECK(refused.starts_with("cannot save a checkpoint in '" + (folder / "new" / "run").string() +
                            "': "));
  CHECK(refused.ends_with(" free; free some space or choose another folder with --out"));
  const auto warnings = warnings_of(request_in(folder), Disk(nullptr, 1'600'000));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("has 1.5 MiB free, but the run's checkpoints and weights may take") !=
        std::string::npos);
  CHECK(warnings_of(request_in(folder), Disk(nullptr, 5 << 20)).empty());
}

TEST_CASE("what is hardly meant gives warnings, and a run without plots needs no gnuplot") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = request_in(folder);
  request.gnuplot.clear();
  request.config = test::read_run(kReadyRun, {"output.plot=off", "data.preprocess=off",
                                              "schedule={cosine: {warmup: {steps: 100}}}"});
  const auto warnings = warnings_of(std::move(request), Disk());
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0].starts_with("the warm-up takes 100 steps"));
  CHECK(warnings[1].starts_with("the samples have values of up to 2"));
}

TEST_CASE("what needs checkpoints or plots is refused where they are off") {
  const testing::TemporaryFolder folder;
  const auto without = [&] {
    TrainingRequest request = request_in(folder);
    request.config = test::read_run(kReadyRun, {"checkpoint=false", "output.plot=no"});
    return request;
  };
  const auto refusal_of = [](TrainingRequest request) {
    return testing::error_of(ErrorKind::command_line,
                             [&] { static_cast<void>(warnings_of(std::move(request), Disk())); });
  };
  CHECK(warnings_of(without(), Disk(nullptr, 1 << 20)).empty());  // room for weights only
  TrainingRequest limited = without();
  limited.max_seconds = 5;
  CHECK(refusal_of(std::move(limited)).starts_with("--max-time ends a run so that it can be"));
  TrainingRequest drawn = without();
  drawn.output = "a.png";
  CHECK(refusal_of(std::move(drawn)).starts_with("--plot: 'output.plot' is off"));
}

TEST_CASE("missing parts of a run give warnings") {
  const testing::TemporaryFolder folder;
  TrainingRequest request = request_in(folder);
  request.gnuplot.clear();
  CHECK(warnings_of(std::move(request), Disk()) ==
        std::vector<std::string>{missing_gnuplot_warning()});
}
