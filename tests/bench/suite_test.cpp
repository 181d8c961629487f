// Suites: their rows, and what is printed, written and drawn of a report.
#include "bench/suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "../base/temporary_folder.h"
#include "base/child_process.h"
#include "base/text.h"
#include "bench/suite_plot.h"
#include "bench/suite_report.h"
#include "report/plotter.h"

using namespace trainyard;
using trainyard::testing::TemporaryFolder;
using trainyard::testing::text_of;

namespace {

const Suite kSuite{.name = "small",
                   .published = "Others 1.0",
                   .source = "https://example.org/figures",
                   .rows = {{.name = "A, one row",
                             .config = "a",
                             .published = {{.by = "Others",
                                            .hardware = "8 cores",
                                            .place = {.ranks = 1},
                                            .batch = 32,
                                            .samples_per_second = 50},
                                           {.by = "Others",
                                            .hardware = "one GPU",
                                            .place = {.ranks = 1, .gpus = true},
                                            .batch = 32,
                                            .samples_per_second = 200},
                                           {.by = "Others",
                                            .hardware = "8 cores",
                                            .place = {.ranks = 1},
                                            .batch = 32,
                                            .samples_per_second = 500,
                                            .inference = true}}},
                            {.name = "B", .config = "b"}}};

ScalingRow measured_row() {
  const RankMeasurement rank{.device = "cpu",
                             .device_text = "CPU, 2 threads",
                             .processor = "Some CPU",
                             .libraries = "oneDNN 3.1.1"};
  return {.images_per_second = 123.456,
          .low = 120,
          .high = 130,
          .parts = {.step = 259.2, .data = 1, .compute = 258.2},
          .by_rank = {rank}};
}

SuiteReport report() {
  const SuiteRow &a = kSuite.rows[0], &b = kSuite.rows[1];
  SuiteReport made{.suite = &kSuite, .version = "train 9.9"};
  made.measurements.push_back({.row = &a,
                               .place = {.ranks = 1},
                               .unit = "images",
                               .batch = 32,
                               .measured = measured_row()});
  made.measurements.push_back({.row = &a,
                               .place = {.ranks = 1, .gpus = true},
                               .unit = "images",
                               .batch = 32,
                               .reason = "no GPU, \"none\"; add one"});
  made.measurements.push_back({.row = &b, .place = {.ranks = 1}, .reason = "no file b.txt"});
  return made;
}

}  // namespace

TEST_CASE("each row of a suite names a shipped config, and each published rate its hardware") {
  REQUIRE(suites().size() == 1);
  std::set<std::string> names;
  for (const Suite& suite : suites()) {
    CHECK(names.insert(suite.name).second);
    std::set<std::string> configs;
    for (const SuiteRow& row : suite.rows) {
      CAPTURE(row.config);
      CHECK(configs.insert(row.config).second);
      CHECK(std::filesystem::exists(std::filesystem::path(TY_SOURCE_DIR) / "configs" /
                                    (row.config + ".yaml")));
      CHECK_FALSE(row.published.empty());
      for (const PublishedRate& rate : row.published) {
        CHECK(rate.samples_per_second > 0);
        CHECK_FALSE(rate.hardware.empty());
        CHECK(rate.batch > 0);
      }
    }
  }
}

TEST_CASE("the benchmark of Keras-MXNet has its six rows, and seconds an epoch become rates") {
  const Suite& suite = suites()[0];
  REQUIRE(suite.rows.size() == 6);
  const auto rate = [&](std::size_t row, const std::string& by, SuitePlace place) {
    for (const PublishedRate& one : suite.rows[row].published) {
      if (one.by == by && one.place == place && !one.inference) return one.samples_per_second;
    }
    return 0.0;
  };
  CHECK(rate(0, "Keras-MXNet", {.ranks = 8, .gpus = true}) == 1068);
  CHECK(rate(0, "Keras-TensorFlow", {.ranks = 1}) == 4);
  CHECK(rate(2, "Keras-MXNet", {.ranks = 1}) == 0);  // not published
  CHECK(rate(4, "Keras-MXNet", {.ranks = 1}) == doctest::Approx(200285.0 / 78));
  // 398 microseconds a sequence are published beside the seconds of an epoch.
  CHECK(rate(5, "Keras-MXNet", {.ranks = 1}) == doctest::Approx(1 / 398e-6).epsilon(0.002));
}

TEST_CASE("a report has ours and the published rates of its task, place by place") {
  const auto lines = suite_lines(report());
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].by == "train");
  CHECK(*lines[0].rate == doctest::Approx(123.456));
  CHECK(lines[0].hardware == "Some CPU, 2 threads");
  CHECK(lines[0].versions == "train 9.9, oneDNN 3.1.1");
  CHECK(lines[1].by == "Others");
  CHECK(*lines[1].rate == 50);
  CHECK_FALSE(lines[2].rate);
  CHECK(*lines[3].rate == 200);
  CHECK(lines[4].row == &kSuite.rows[1]);
  SuiteReport inference = report();
  inference.inference = true;
  CHECK(*suite_lines(inference)[1].rate == 500);
}

TEST_CASE("the table says what was not measured, and why") {
  CHECK(suite_table(report()) ==
        "small: published by Others 1.0\n"
        "\n"
        "A, one row (a), images/s, training\n"
        "  CPU          train                   123  Some CPU, 2 threads\n"
        "               Others                 50.0  8 cores\n"
        "  1 GPU        train                     -  not measured: no GPU, \"none\"\n"
        "               Others                  200  one GPU\n"
        "\n"
        "B (b), samples/s, training\n"
        "  CPU          train                     -  not measured: no file b.txt\n");
}

TEST_CASE("the CSV has a line for each rate and for each that is missing") {
  const std::vector<std::string> lines = split(suite_csv(report()), '\n');
  REQUIRE(lines.size() == 7);  // with the header, and the end of the last line
  CHECK(lines[1] ==
        "small,\"A, one row\",a,training,train,\"Some CPU, 2 "
        "threads\",cpu,1,32,123.456,120,130,,images,259.2,1,258.2,0,\"train 9.9, oneDNN "
        "3.1.1\",,measured,");
  CHECK(lines[2] ==
        "small,\"A, one row\",a,training,Others,8 cores,cpu,1,32,50,,,,images,,,,,Others "
        "1.0,https://example.org/figures,published,");
  CHECK(lines[3] ==
        "small,\"A, one row\",a,training,train,,gpu,1,32,,,,,images,,,,,train 9.9,,not "
        "measured,\"no GPU, \"\"none\"\"; add one\"");
  CHECK(lines[5] ==
        "small,B,b,training,train,,cpu,1,,,,,,,,,,,train 9.9,,not measured,no file b.txt");
}

TEST_CASE("a speed-up is over one rank on the same kind of device, by the same program") {
  SuiteReport made = report();
  SuiteMeasurement two = made.measurements[0];
  two.place.ranks = 2;
  two.measured->images_per_second = 2 * 123.456;
  made.measurements.insert(made.measurements.begin() + 1, two);
  const std::vector<std::string> lines = split(suite_json(made), '\n');
  CHECK(parse_json(lines[0], {"line"})["speedup"].is_null());
  CHECK(parse_json(lines[2], {"line"})["ranks"] == 2);
  CHECK(parse_json(lines[2], {"line"})["speedup"].get<double>() == doctest::Approx(2));
  CHECK(parse_json(lines[4], {"line"})["speedup"].is_null());
}

TEST_CASE("JSON lines have the same, with null for what is not known") {
  const std::vector<std::string> lines = split(suite_json(report()), '\n');
  REQUIRE(lines.size() == 6);
  const Json ours = parse_json(lines[0], {"line"}), missing = parse_json(lines[4], {"line"});
  CHECK(ours["images_per_s"].get<double>() == doctest::Approx(123.456));
  CHECK(ours["state"] == "measured");
  CHECK(ours["step_ms"].get<double>() == doctest::Approx(259.2));
  CHECK(missing["images_per_s"].is_null());
  CHECK(missing["batch"].is_null());
  CHECK(missing["reason"] == "no file b.txt");
}

TEST_CASE("gnuplot draws a panel for each row, and says what has no bar") {
  const auto gnuplot = find_program("gnuplot", "/usr/local/bin:/usr/bin:/bin");
  REQUIRE_MESSAGE(gnuplot.has_value(), "gnuplot is one of the packages that the suite needs");
  const TemporaryFolder folder;
  const Disk disk;
  const auto picture = folder / "s.svg";
  CHECK(draw_picture(disk, *gnuplot, suite_script(report(), picture), picture) == "");
  const std::string svg = text_of(picture);
  for (const std::string text : {"small, training", "A, one row", "images/s", "123", "50", "200",
                                 "not measured here: 1 GPU", "not measured here: CPU", "Others",
                                 "train on Some CPU, 2 threads; published on 8 cores, one GPU"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  const auto png = folder / "s.png";
  CHECK(draw_picture(disk, *gnuplot, suite_script(report(), png), png) == "");
  CHECK(text_of(png).starts_with("\x89PNG"));
}
