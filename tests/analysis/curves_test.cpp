#include <doctest/doctest.h>

#include "analysis/curve_plot.h"
#include "analysis/run_curves.h"
#include "base/error.h"
#include "written_run.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

using Points = std::vector<PlotPoint>;

bool has_part(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

RunConfig config_of(const TemporaryFolder& folder, const std::string& data) {
  const auto path = folder.write(
      "run.yaml", "name: a\nnetwork: {input: [3, 8, 8], layers: [dense: 4, softmax]}\ndata: {" +
                      data +
                      "}\nbatch: {per_gpu: 16}\nloss: cross_entropy\noptimizer: {sgd: {lr: 0.5}}\n"
                      "schedule: {step: {every: 1, gamma: 0.5}}\nepochs: 2\n");
  return read_run_config(path, {});
}

}  // namespace

TEST_CASE("a running mean weighs every earlier value by the factor, without a bias to 0") {
  const Points values = {{1, 4}, {2, 0}, {3, 0}};
  CHECK(smoothed(values, 0) == values);
  const Points means = smoothed(values, 0.5);
  CHECK(means[0] == PlotPoint{1, 4});
  CHECK(means[1].y == doctest::Approx(4.0 * 0.5 / 1.5));
  CHECK(means[2].y == doctest::Approx(4.0 * 0.25 / 1.75));
}

TEST_CASE("colours are the splits of one run, or several runs; absent columns have no panel") {
  const TemporaryFolder folder;
  std::vector<RecordedRun> runs = {
      read_recorded_run(write_run(folder, "a", "0.1", RunState::completed), kLater)};
  const CurvePlot one = run_curves(runs, {});
  REQUIRE(one.panels.size() == 5);
  CHECK(one.panels[0].label == "loss");
  REQUIRE(one.panels[0].curves.size() == 2);
  CHECK(one.panels[0].curves[0].points == Points{{1, 1.5}, {2, 1.25}});
  CHECK(one.panels[0].curves[1].points == Points{{1, 1.25}, {2, 1.75}});
  CHECK(one.panels[0].curves[1].style.colour == 1);
  CHECK(one.panels[4].curves[0].points == Points{{1, 2}});
  runs.push_back(read_recorded_run(write_run(folder, "b", "0.2", RunState::failed), kLater));
  const CurvePlot two = run_curves(runs, {.columns = {"accuracy", "lr"}, .smooth = 0.5});
  REQUIRE(two.panels.size() == 2);
  CHECK(two.panels[0].curves.size() == 8);
  CHECK(two.panels[0].curves[1].style.line == CurveStyle::Line::dashed);
  CHECK(two.panels[0].curves[7].style.line == CurveStyle::Line::solid);
  CHECK(two.panels[0].curves[7].style.colour == 1);
  REQUIRE(two.panels[1].curves.size() == 2);  // rates are not smoothed
  CHECK(two.panels[1].curves[1].style.line == CurveStyle::Line::solid);
  CHECK(two.legend.size() == 3);
}

TEST_CASE("against steps, curves are those of steps.csv where it has them") {
  const TemporaryFolder folder;
  const auto path = write_run(folder, "a", "0.1", RunState::completed);
  folder.write("a/steps.csv", "step,epoch,loss\n1,1,3\n2,1,2\n");
  const std::vector<RecordedRun> runs = {read_recorded_run(path, kLater)};
  const CurvePlot plot = run_curves(runs, {.steps = true});
  CHECK(plot.x_label == "step");
  CHECK(plot.panels[0].curves[0].points == Points{{1, 3}, {2, 2}});
  CHECK(plot.panels[0].curves[1].points == Points{{10, 1.25}, {20, 1.75}});
}

TEST_CASE("a script holds its data, thinned to means, and quotes what users name") {
  CurvePlot plot{.title = "it's", .x_label = "epoch", .legend = {{"a", {}}}, .panels = {{}}};
  PlotCurve curve;
  for (int i = 0; i < 4001; ++i) curve.points.push_back({i * 1.0, i * 2.0});
  plot.panels[0].curves = {curve};
  const std::string script = curve_script(plot, "out/a.pdf");
  CHECK(has_part(script, "'it''s'"));
  CHECK(has_part(script, "set terminal pdfcairo"));
  CHECK(has_part(script, "set output prefix.'a.pdf'"));
  CHECK(has_part(script, "$panel0_0 << END\n1 2\n4 8\n"));
}

TEST_CASE("the number of samples is that of the file, or of the published set") {
  const TemporaryFolder folder;
  const auto samples = [&](const std::string& train) {
    return expected_samples(config_of(folder, "train: {" + train + "}, val_fraction: 0.1"));
  };
  CHECK(samples("source: synthetic, size: 101") == 91);
  CHECK(samples("source: cifar10") == 45'000);
  CHECK(samples("source: cifar10, limit: 1000") == 900);
  CHECK_FALSE(samples("source: image_folder, root: a").has_value());
  CHECK_FALSE(samples("source: image_folder, root: a, size: 64").has_value());  // pixels
}

TEST_CASE("a schedule is drawn step by step over the epochs") {
  const TemporaryFolder folder;
  const RunConfig run =
      config_of(folder, "train: {source: synthetic, size: 40}, val_fraction: 0.2");
  const CurvePlot plot = schedule_curve(run, 1, 32);
  CHECK(plot.title == "a: 2 epochs of 2 steps");
  CHECK(plot.panels[0].curves[0].points == Points{{0, 0.5}, {0.5, 0.5}, {1, 0.25}, {1.5, 0.25}});
  CHECK_THROWS_AS(static_cast<void>(schedule_curve(run, 4, 32)), Error);
}
