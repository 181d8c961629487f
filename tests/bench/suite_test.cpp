// Suites: their rows, and what is printed, written and drawn of a report.
#include "bench/suite.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/child_process.h"
#include "base/text.h"
#include "report/plotter.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr const char* kSource = "https://example.org/figures";

/// A published rate of the row A.
SuiteLine published(const char* hardware, bool gpu, double rate, bool inference = false) {
  return {.row = "A, one row",
          .config = "a",
          .by = "Others",
          .hardware = hardware,
          .place = {.ranks = 1, .gpus = gpu},
          .inference = inference,
          .batch = 32,
          .rate = rate,
          .versions = "Others 1.0",
          .source = kSource};
}

const std::vector<SuiteLine> kPublished = {published("8 cores", false, 50),
                                           published("one GPU", true, 200),
                                           published("8 cores", false, 500, true)};

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

/// Ours: A on the CPU, and what was not measured of A on a GPU and of B.
std::vector<SuiteLine> our_lines(bool inference = false) {
  SuiteLine a{.row = "A, one row", .config = "a", .inference = inference, .unit = "images"};
  a.batch = 32;
  SuiteLine gpu = a;
  gpu.place.gpus = true;
  gpu.reason = "no GPU, \"none\"; add one";
  const SuiteLine b{.row = "B", .config = "b", .inference = inference, .reason = "no file b.txt"};
  return {our_line(a, "train 9.9", measured_row()), our_line(gpu, "train 9.9", {}),
          our_line(b, "train 9.9", {})};
}

SuiteReport report() { return {"small", with_published(our_lines(), kPublished)}; }

}  // namespace

TEST_CASE("the benchmark of Keras-MXNet has its six rows, of shipped configs") {
  const std::filesystem::path configs = std::filesystem::path(TY_SOURCE_DIR) / "configs";
  const std::vector<SuiteLine> suite = read_suite(configs / "suites" / "keras-mxnet.csv");
  std::set<std::string> names;
  for (const SuiteLine& line : suite) {
    names.insert(line.config);
    CHECK(std::filesystem::exists(configs / (line.config + ".yaml")));
    CHECK_FALSE(line.hardware.empty());
  }
  CHECK(names.size() == 6);
  const auto rate = [&](const std::string& config, const std::string& by, SuitePlace place) {
    for (const SuiteLine& line : suite) {
      if (line.config == config && line.by == by && line.place == place && !line.inference) {
        return *line.rate;
      }
    }
    return 0.0;
  };
  CHECK(rate("resnet50_synthetic", "Keras-MXNet", {.ranks = 8, .gpus = true}) == 1068);
  CHECK(rate("resnet50_synthetic", "Keras-TensorFlow", {.ranks = 1}) == 4);
  CHECK(rate("resnet56_256_synthetic", "Keras-MXNet", {.ranks = 1}) == 0);  // not published
  CHECK(rate("lstm_nietzsche", "Keras-MXNet", {.ranks = 1}) == doctest::Approx(200285.0 / 78));
  // 398 microseconds a sequence are published beside the seconds of an epoch.
  CHECK(rate("lstm_wikitext2", "Keras-MXNet", {.ranks = 1}) ==
        doctest::Approx(1 / 398e-6).epsilon(0.002));
}

TEST_CASE("a suite's file with a wrong line is refused with the line") {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    Disk().replace_file(folder / "s.csv", text);
    const std::string error = testing::error_of(
        ErrorKind::config, [&] { static_cast<void>(read_suite(folder / "s.csv")); });
    return error.substr(error.find("s.csv"));
  };
  CHECK(message("row,config\nA\n") == "s.csv:2: has another number of cells than line 1");
  CHECK(message("row,config\nA,a\n") == "s.csv:2: has no column 'by'");
  const std::string columns = "row,config,by,hardware,device,task,ranks,batch\n";
  for (const char* ranks : {"0", "one", "1x", ""}) {
    CHECK(message(columns + "A,a,B,C,cpu,training," + ranks + ",32\n") ==
          "s.csv:2: ranks: '" + std::string(ranks) + "' is not a number above 0");
  }
}

TEST_CASE("a report has ours and the published rates of its task, place by place") {
  const auto lines = report().lines;
  REQUIRE(lines.size() == 5);
  CHECK(lines[0].by == "train");
  CHECK(*lines[0].rate == doctest::Approx(123.456));
  CHECK(lines[0].hardware == "Some CPU, 2 threads");
  CHECK(lines[0].versions == "train 9.9, oneDNN 3.1.1");
  CHECK(lines[1].by == "Others");
  CHECK(*lines[1].rate == 50);
  CHECK_FALSE(lines[2].rate);
  CHECK(*lines[3].rate == 200);
  CHECK(lines[4].row == "B");
  CHECK(*with_published(our_lines(true), kPublished)[1].rate == 500);
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
  SuiteLine two = made.lines[0];
  two.place.ranks = 2;
  *two.rate *= 2;
  made.lines.insert(made.lines.begin() + 2, two);
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
  const auto plot = folder / "s.svg";
  CHECK(draw_plot(disk, *gnuplot, suite_script(report(), plot), plot) == "");
  const std::string svg = text_of(plot);
  for (const std::string text : {"small, training", "A, one row", "images/s", "123", "50", "200",
                                 "not measured here: 1 GPU", "not measured here: CPU", "Others",
                                 "train on Some CPU, 2 threads; published on 8 cores, one GPU"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  const auto png = folder / "s.png";
  CHECK(draw_plot(disk, *gnuplot, suite_script(report(), png), png) == "");
  CHECK(text_of(png).starts_with("\x89PNG"));
}
