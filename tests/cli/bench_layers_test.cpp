#include "cli/bench_layers.h"

#include <doctest/doctest.h>

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

}  // namespace
}  // namespace trainyard::cli
