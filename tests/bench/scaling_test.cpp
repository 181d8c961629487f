// Results from measured steps: rows, shares of the missing speed-up, and their output.
#include "bench/scaling.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "base/child_process.h"
#include "report/plotter.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

/// `ranks` equal ranks of 64 samples per step on one host.
ScalingRound round_of(int ranks, const StepTimes& seconds) {
  return ScalingRound(static_cast<std::size_t>(ranks), {.host = "node1",
                                                        .device = "cpu",
                                                        .threads = 1,
                                                        .cores = 8,
                                                        .local_ranks = ranks,
                                                        .samples = 64,
                                                        .seconds = seconds});
}

/// The same with two all-reduces, of which rank 1 is the slower.
ScalingRound round_with_sums() {
  ScalingRound round = round_of(2, {.whole = 0.1, .without_sums = 0.08, .sums = 0.02});
  for (const double seconds : {0.016, 0.024}) {
    round[seconds > 0.02 ? 1 : 0].collectives = {
        {.elements = "1,000,000 f32 elements", .bytes = 4'000'000, .seconds = seconds},
        {.elements = "2 f64 elements", .bytes = 16, .seconds = 0.0001}};
  }
  return round;
}

/// One rank takes 0.1 s per step, two 0.125 s: 80 %. The additional 25 ms are 15 of compute, 8 of
/// all-reduces and 2 of data; of 12 ms of all-reduces, 4 are hidden.
std::vector<ScalingRound> two_counts() {
  return {
      round_of(2, {.whole = 0.125, .without_sums = 0.117, .without_data = 0.114, .sums = 0.012}),
      round_of(1, {.whole = 0.1, .without_sums = 0.1, .without_data = 0.099, .sums = 0})};
}

std::string missing(const std::vector<ScalingRow>& rows, std::size_t row = 1) {
  return missing_text(rows.front(), rows[row]);
}

std::vector<ScalingRow> rows_of(const std::vector<ScalingRound>& rounds) {
  return scaling_rows(rounds);
}

const ScalingSubject kSubject{
    .network = "tiny", .batch = 64, .batch_from = "batch.per_gpu", .rounds = 1};

}  // namespace

TEST_CASE(
    "throughput is samples of all ranks / step time, and efficiency is relative to one rank") {
  const auto rows = rows_of(two_counts());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].ranks == 1);
  CHECK(rows[0].images_per_second == doctest::Approx(640));
  CHECK(rows[0].speed_up == doctest::Approx(1));
  CHECK(rows[0].efficiency == doctest::Approx(1));
  CHECK(rows[1].images_per_second == doctest::Approx(1024));
  CHECK(rows[1].speed_up == doctest::Approx(1.6));
  CHECK(rows[1].efficiency == doctest::Approx(0.8));
}

TEST_CASE("a step is data, compute and communication; further time of all-reduces is hidden") {
  const StepParts parts = rows_of(two_counts())[1].parts;
  CHECK(parts.step == doctest::Approx(125));
  CHECK(parts.data == doctest::Approx(3));
  CHECK(parts.communication == doctest::Approx(8));
  CHECK(parts.compute == doctest::Approx(114));
  CHECK(parts.hidden == doctest::Approx(4));
}

TEST_CASE("without overlap no all-reduce is hidden, including waiting for others") {
  const auto rows = rows_of(
      {round_of(2, {.whole = 0.1, .without_sums = 0.07, .without_data = 0.07, .sums = 0.01})});
  CHECK(rows[0].parts.communication == doctest::Approx(30));
  CHECK(rows[0].parts.hidden == 0);
}

TEST_CASE("negative differences are noise, and the parts still add up to the step") {
  const auto rows = rows_of(
      {round_of(2, {.whole = 0.1, .without_sums = 0.101, .without_data = 0.103, .sums = 0.002})});
  CHECK(rows[0].parts.communication == 0);
  CHECK(rows[0].parts.data == 0);
  CHECK(rows[0].parts.compute == doctest::Approx(100));
  CHECK(rows[0].parts.hidden == doctest::Approx(2));
}

TEST_CASE("a row is the median of its rounds, between the slowest and the fastest") {
  std::vector<ScalingRound> rounds;
  for (const double seconds : {0.2, 0.1, 0.5}) {
    rounds.push_back(round_of(2, {.whole = seconds,
                                  .without_sums = seconds - 0.01,
                                  .without_data = seconds - 0.01,
                                  .sums = 0.01}));
  }
  const auto rows = rows_of(rounds);
  CHECK(rows[0].images_per_second == doctest::Approx(640));
  CHECK(rows[0].low == doctest::Approx(256));
  CHECK(rows[0].high == doctest::Approx(1280));
  CHECK(rows[0].parts.communication == doctest::Approx(10));
}

TEST_CASE("ranks are reported one by one, and a count is their mean") {
  ScalingRound uneven =
      round_of(2, {.whole = 0.1, .without_sums = 0.1, .without_data = 0.1, .sums = 0});
  uneven[1].seconds.without_sums = 0.06;
  uneven[1].seconds.without_data = 0.06;
  const auto rows = rows_of({uneven});
  CHECK(rows[0].parts.communication == doctest::Approx(20));
  CHECK(rows[0].parts_by_rank[0].communication == doctest::Approx(0));
  CHECK(rows[0].parts_by_rank[1].communication == doctest::Approx(40));
}

TEST_CASE("without a measurement of one rank the fewest count as perfect") {
  const auto rows = rows_of(
      {round_of(2, {.whole = 0.1, .without_sums = 0.1, .without_data = 0.1}),
       round_of(4, {.whole = 0.125, .without_sums = 0.1, .without_data = 0.1, .sums = 0.025})});
  CHECK(rows[0].speed_up == doctest::Approx(2));
  CHECK(rows[1].speed_up == doctest::Approx(3.2));
  CHECK(rows[1].efficiency == doctest::Approx(0.8));
}

TEST_CASE("the sentence lists where the time went, the largest share first") {
  CHECK(missing(rows_of(two_counts())) ==
        "2 ranks: 1.60 of 2 times. The missing 20.0 %: compute 12.0 % (99.00 to 114.00 ms), "
        "communication 6.4 % (0.00 to 8.00 ms), data 1.6 % (1.00 to 3.00 ms).");
}

TEST_CASE("the sentence names a part that became shorter separately") {
  const auto rows =
      rows_of({round_of(1, {.whole = 0.1, .without_sums = 0.1, .without_data = 0.09}),
               round_of(2, {.whole = 0.125, .without_sums = 0.095, .without_data = 0.095})});
  CHECK(missing(rows) ==
        "2 ranks: 1.60 of 2 times. The missing 20.0 %: communication 24.0 % (0.00 to 30.00 ms), "
        "compute 4.0 % (90.00 to 95.00 ms); won back: data 8.0 % (10.00 to 0.00 ms).");
}

TEST_CASE("the sentence of perfect scaling says so") {
  const StepTimes same{.whole = 0.1, .without_sums = 0.1, .without_data = 0.1};
  CHECK(missing(rows_of({round_of(1, same), round_of(3, same)})) ==
        "3 ranks: 3.00 of 3 times, nothing is missing.");
}

TEST_CASE("the sentence says that ranks share cores, on CPUs only") {
  std::vector<ScalingRound> rounds = two_counts();
  for (RankMeasurement& rank : rounds[0]) rank.cores = 1;
  CHECK(missing(rows_of(rounds)).ends_with("). 2 ranks of 1 thread share 1 core."));
  for (RankMeasurement& rank : rounds[0]) rank.threads = 2;
  CHECK(missing(rows_of(rounds)).ends_with("). 2 ranks of 2 threads share 1 core."));
  for (RankMeasurement& rank : rounds[0]) rank.device = "cuda:0";
  CHECK(missing(rows_of(rounds)).ends_with(")."));
}

TEST_CASE("a round reaches the launcher complete, whatever else is printed") {
  const ScalingRound sent = two_counts()[0];
  const PrintedRound got = round_in("Welcome to node1\n" + round_line(sent) + "bye\n", 2);
  CHECK(got.others == "Welcome to node1\nbye\n");
  REQUIRE(got.round.size() == 2);
  CHECK(json_of(got.round[1]) == json_of(sent[1]));
}

TEST_CASE("a missing or incomplete round is an error") {
  const auto message = [](const std::string& printed, int ranks) {
    return error_of(ErrorKind::device, [&] { static_cast<void>(round_in(printed, ranks)); });
  };
  CHECK(
      message("", 2) ==
      "2 ranks succeeded, but 0 of them reported their measurements; check that all hosts have the "
      "same version of train");
  CHECK(message(round_line(two_counts()[0]), 3).starts_with("3 ranks succeeded, but 2 of them"));
  CHECK(message("{\"scaling_ranks\":[{\"host\":\"a\"}]}\n", 1)
            .starts_with("the measurement of a rank cannot be read ("));
  CHECK(message("{\"scaling_ranks\":[{\n", 1).starts_with("the measurement of rank 0:1:"));
}

TEST_CASE("the table has one line per count, one per rank if there are several, and the sentence") {
  const std::string table = scaling_table(kSubject, rows_of(two_counts()));
  CHECK(table ==
        "tiny: batch 64 (batch.per_gpu) and 1 thread for each rank, medians of 1 round\n"
        "  ranks   images/s  rounds              speed-up  efficiency    ms/step      data   "
        "compute  communication   hidden\n"
        "      1      640.0  640.0 to 640.0          1.00     100.0 %     100.00      1.00     "
        "99.00           0.00     0.00\n"
        "      2     1024.0  1024.0 to 1024.0        1.60      80.0 %     125.00      3.00    "
        "114.00           8.00     4.00\n"
        "        rank 0, node1, cpu                                      125.00      3.00    "
        "114.00           8.00     4.00\n"
        "        rank 1, node1, cpu                                      125.00      3.00    "
        "114.00           8.00     4.00\n"
        "2 ranks: 1.60 of 2 times. The missing 20.0 %: compute 12.0 % (99.00 to 114.00 ms), "
        "communication 6.4 % (0.00 to 8.00 ms), data 1.6 % (1.00 to 3.00 ms).\n");
}

TEST_CASE("the table has the size, time and rate of each all-reduce, means over ranks") {
  const std::vector<ScalingRow> rows = rows_of({round_with_sums()});
  CHECK(scaling_table(kSubject, rows)
            .ends_with("Each all-reduce of a step alone, on 2 ranks:\n"
                       "                 bytes         ms     GB/s  elements\n"
                       "      1      4,000,000     20.000    0.200  1,000,000 f32 elements\n"
                       "      2             16      0.100    0.000  2 f64 elements\n"));
  const Json line = parse_json(scaling_json(kSubject, rows), {.name = "line"});
  CHECK(line["all_reduces"].size() == 2);
  CHECK(line["all_reduces"][0]["bytes"] == 4'000'000);
  CHECK(line["all_reduces"][0]["ms"].get<double>() == doctest::Approx(20));
  CHECK(line["all_reduces"][1]["elements"] == "2 f64 elements");
  const PrintedRound got = round_in(round_line(round_with_sums()), 2);
  CHECK(json_of(got.round[1]) == json_of(round_with_sums()[1]));
}

TEST_CASE("the table shows the threads of all hosts") {
  std::vector<ScalingRound> rounds = two_counts();
  rounds[0][1].threads = 4;
  CHECK(scaling_table(kSubject, rows_of(rounds)).find("and 1 to 4 threads for each rank") !=
        std::string::npos);
  for (ScalingRound& round : rounds) {
    for (RankMeasurement& rank : round) rank.threads = 4;
  }
  CHECK(scaling_table(kSubject, rows_of(rounds)).find("and 4 threads for each rank") !=
        std::string::npos);
}

TEST_CASE("the CSV has one line per count and rank") {
  CHECK(scaling_csv(kSubject, rows_of(two_counts())) ==
        "ranks,rank,host,device,threads,batch,images_per_s,low,high,speedup,efficiency,step_ms,"
        "data_ms,compute_ms,communication_ms,hidden_communication_ms\n"
        "1,0,node1,cpu,1,64,640,640,640,1,1,100,1,99,0,0\n"
        "2,0,node1,cpu,1,64,1024,1024,1024,1.6,0.8,125,3,114,8,4\n"
        "2,1,node1,cpu,1,64,1024,1024,1024,1.6,0.8,125,3,114,8,4\n");
}

TEST_CASE("JSON lines have one line per count with its ranks") {
  const std::string lines = scaling_json(kSubject, rows_of(two_counts()));
  const std::size_t end = lines.find('\n');
  const Json first = parse_json(lines.substr(0, end), {.name = "first"});
  const Json second = parse_json(lines.substr(end + 1), {.name = "second"});
  CHECK(first["ranks"] == 1);
  CHECK(first["by_rank"].size() == 1);
  CHECK(second["net"] == "tiny");
  CHECK(second["batch"] == 64);
  CHECK(second["efficiency"].get<double>() == doctest::Approx(0.8));
  CHECK(second["hidden_communication_ms"].get<double>() == doctest::Approx(4));
  CHECK(second["by_rank"][1]["rank"] == 1);
  CHECK(second["by_rank"][1]["compute_ms"].get<double>() == doctest::Approx(114));
}

TEST_CASE("gnuplot draws speed and parts, hidden communication only if there is some") {
  const auto gnuplot = find_program("gnuplot", "/usr/local/bin:/usr/bin:/bin");
  REQUIRE_MESSAGE(gnuplot.has_value(), "gnuplot is one of the packages that the suite needs");
  const TemporaryFolder folder;
  const Disk disk;
  const auto rows = rows_of(two_counts());
  const auto plot = folder / "s.svg";
  ScalingSubject subject = kSubject;
  subject.network = "it's tiny";
  CHECK(draw_plot(disk, *gnuplot, scaling_script(subject, rows, plot), plot) == "");
  const std::string svg = text_of(plot);
  for (const std::string text : {"it's tiny, batch 64 per rank", "perfect scaling", "images/s",
                                 "80 %", "125.0", "communication, hidden"}) {
    CAPTURE(text);
    CHECK(svg.find(text) != std::string::npos);
  }
  CHECK(text_of(folder / "s.gp").find("perfect scaling") != std::string::npos);
  const auto one = std::span(rows).first(1);
  const auto plain = folder / "one.svg";
  CHECK(draw_plot(disk, *gnuplot, scaling_script(kSubject, one, plain), plain) == "");
  CHECK(text_of(plain).find("hidden") == std::string::npos);
  subject.unit = "seq";
  CHECK(scaling_script(subject, rows, plot).find("set ylabel 'seq/s'") != std::string::npos);
  CHECK(scaling_table(subject, rows).find("\n  ranks      seq/s  rounds") != std::string::npos);
  const auto png = folder / "s.png";
  CHECK(draw_plot(disk, *gnuplot, scaling_script(kSubject, rows, png), png) == "");
  CHECK(text_of(png).starts_with("\x89PNG"));
}

TEST_CASE("the plot of high speeds has every text within its edges") {
  const auto gnuplot = find_program("gnuplot", "/usr/local/bin:/usr/bin:/bin");
  REQUIRE(gnuplot.has_value());
  const TemporaryFolder folder;
  auto rows = rows_of(two_counts());
  for (ScalingRow& row : rows) row.images_per_second = row.low = row.high = 150000.0 * row.ranks;
  const auto plot = folder / "s.svg";
  CHECK(draw_plot(Disk(), *gnuplot, scaling_script(kSubject, rows, plot), plot) == "");
  const std::string svg = text_of(plot);
  // The position of a text: the last "translate(X,Y)" before it.
  const auto place = [&](const std::string& text) {
    const std::size_t at = svg.find("<text>" + text);
    REQUIRE(at != std::string::npos);
    const std::string mark = "translate(";
    return std::stod(svg.substr(svg.rfind(mark, at) + mark.size()));
  };
  CHECK(place("images/s") > 12);                       // its middle, upright
  CHECK(place("communication, hidden") < 1280 - 200);  // its start
}

TEST_CASE("a plot that gnuplot cannot draw is reported, and the old one stays") {
  const TemporaryFolder folder;
  const Disk disk;
  const auto gnuplot = find_program("gnuplot", "/usr/local/bin:/usr/bin:/bin");
  REQUIRE(gnuplot.has_value());
  testing::put_text(folder / "s.png", "old");
  const std::string complaint = draw_plot(disk, *gnuplot, "plot nonsense(\n", folder / "s.png");
  CHECK(complaint.starts_with("gnuplot ended with code 1: "));
  CHECK(text_of(folder / "s.png") == "old");
}
