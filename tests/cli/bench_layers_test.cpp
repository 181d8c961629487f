#include <doctest/doctest.h>

#include "cli/bench_scaling.h"

namespace trainyard::cli {
namespace {

BenchResult measured() {
  BenchResult result;
  result.step_milliseconds = 10;
  result.peaks.gflops = 100;
  result.layers = {
      {.name = "conv1 forward_train", .seconds = 4e-3, .gflop = 0.2, .algorithm = {"oneDNN jit"}},
      {.name = "conv2 forward_train",
       .seconds = 2e-3,
       .gflop = 0.2,
       .algorithm = {"winograd 2x2", 16.0 / 36}},
      {.name = "bn1 forward_train", .seconds = 3e-3},
  };
  return result;
}

TEST_CASE("products name their algorithm and their share of the peak") {
  CHECK(layers_text(measured()) ==
        "      4.000 ms   40.0 %  conv1 forward_train, oneDNN jit: 50 % of the peak\n"
        "      2.000 ms   20.0 %  conv2 forward_train, winograd 2x2: 100 % of the peak, 44 % in "
        "executed operations\n"
        "      3.000 ms   30.0 %  bn1 forward_train\n"
        "  products 6.00 ms (67 %), all else 3.00 ms (33 %)\n");
  CHECK(layers_text(BenchResult{}).empty());
}

TEST_CASE("layers are objects of a JSON array") {
  const Json rows = layers_json(measured());
  REQUIRE(rows.size() == 3);
  CHECK(rows[1]["algorithm"] == "winograd 2x2");
  CHECK(rows[1]["share_of_peak"] == doctest::Approx(1));
  CHECK(rows[1]["executed_share_of_peak"] == doctest::Approx(16.0 / 36));
  CHECK(rows[2] == Json{{"step", "bn1 forward_train"}, {"ms", 3.0}});
}

TEST_CASE("the nodes of a step on a GPU have their own lines and objects") {
  BenchResult result;
  CHECK(node_times_text(result).empty());
  result.node_times = {
      {"conv1 forward_train",
       {{.kind = "convolution", .functor = {}, .library = true, .bytes = 64, .flop = 1e6}, {0, 2}},
       12.5},
      {"bn1 forward_train", {{.kind = "bn", .functor = "Sums", .bytes = 32}, {0, 1}, 2}, 3.25},
      {"odd", {{.library = true, .bytes = 8}, {0, 3}}, 1}};
  CHECK(node_times_text(result) ==
        "      12.50 us  conv1 forward_train, convolution\n"
        "       3.25 us  bn1 forward_train, Sums, 2 times\n"
        "       1.00 us  odd\n"
        "      20.00 us  all nodes one after the other, each warm\n");
  const Json rows = node_times_json(result);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == Json{{"step", "conv1 forward_train"},
                        {"kind", "convolution"},
                        {"functor", ""},
                        {"library", true},
                        {"beside", false},
                        {"bytes", 64},
                        {"flop", 1e6},
                        {"nodes", 2},
                        {"count", 1},
                        {"microseconds", 12.5}});
  CHECK(rows[1]["count"] == 2);
}

TEST_CASE("spans are JSON lines behind one of the bench") {
  BenchResult result;
  result.network = "net";
  result.batch = 16;
  result.device = "cuda:0";
  result.step_milliseconds = 1.5;
  result.spans = {
      {.kind = "bn", .functor = "Sums", .begin = 0, .end = 2.5},
      {.kind = "bn", .functor = "Scale", .queue = 1, .begin = 4, .end = 5, .gap = 1.5, .calls = 1}};
  CHECK(spans_lines(result) ==
        R"({"net":"net","batch":16,"device":"cuda:0","ms_per_step":1.5})"
        "\n"
        R"({"node":0,"kind":"bn","functor":"Sums","queue":0,"begin_us":0.0,"end_us":2.5,)"
        R"("gap_us":null,"calls_in_gap":0})"
        "\n"
        R"({"node":1,"kind":"bn","functor":"Scale","queue":1,"begin_us":4.0,"end_us":5.0,)"
        R"("gap_us":1.5,"calls_in_gap":1})"
        "\n");
}

}  // namespace
}  // namespace trainyard::cli
