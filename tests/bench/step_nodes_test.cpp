// GPU speed by what can be counted: a step's nodes and own bytes are the committed figures.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/counted_step.h"
#include "bench/gpu_rates.h"
#include "run/session/session_model.h"

using namespace trainyard;

namespace {

namespace fs = std::filesystem;

/// The lines of step_nodes.txt without its comment.
std::vector<std::string> committed_figures() {
  std::ifstream file(fs::path(TY_SOURCE_DIR) / "tests/bench/step_nodes.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("#")) lines.push_back(line);
  }
  return lines;
}

std::string figures_of(const std::string& name) {
  const RunConfig run = read_run_config(fs::path(TY_SOURCE_DIR) / "configs" / (name + ".yaml"), {});
  const NodeCounts counts =
      node_counts(count_step(run, make_training_graph(run, 128), cuda_target(Precision::bf16)));
  return name + " " + std::to_string(counts.nodes) + " " + std::to_string(counts.own_bytes);
}

counted::Launch launch(std::string kind, std::string functor, std::size_t bytes) {
  return {.kind = std::move(kind), .functor = std::move(functor), .bytes = bytes};
}

}  // namespace

TEST_CASE("nodes and own bytes of a step are the figures of step_nodes.txt") {
  const std::vector<std::string> lines = committed_figures();
  CHECK(lines.size() == 3);
  for (const std::string& line : lines) {
    INFO("a change of what is launched changes tests/bench/step_nodes.txt; a rise needs a reason");
    CHECK(figures_of(line.substr(0, line.find(' '))) == line);
  }
}

TEST_CASE("launches are counted by kind, and those of libraries have no own bytes") {
  const NodeCounts counts = node_counts(
      {launch("bn", "Sums", 100),
       launch("bn", "Normalise", 50),
       launch("copy", "", 8),
       {.kind = "convolution", .functor = {}, .library = true, .bytes = 1000, .flop = 1}});
  CHECK(counts.nodes == 4);
  CHECK(counts.own_bytes == 158);
  REQUIRE(counts.kinds.size() == 3);
  CHECK(counts.kinds[0].kind == "bn");
  CHECK(counts.kinds[0].nodes == 2);
  CHECK(counts.kinds[0].bytes == 150);
  CHECK(counts.kinds[0].functors ==
        std::map<std::string, std::size_t>{{"Normalise", 1}, {"Sums", 1}});
  CHECK(counts.kinds[1].kind == "convolution");
  CHECK(counts.kinds[1].bytes == 0);
  CHECK(counts.kinds[2].kind == "copy");
}

TEST_CASE("a predicted time is that of each node alone: latency, then bytes or operations") {
  const Target target = cuda_target(Precision::bf16);
  const GpuRates gpu{.name = "of the test",
                     .gigabytes_per_second = 1000,
                     .gflops_16 = 100e3,
                     .gflops_tf32 = 50e3,
                     .gflops_f32 = 10e3,
                     .source = ""};
  // 1 MB take 1 us, 100 MFLOP take 1 us in 16 bits and 10 us in f32.
  const std::vector<counted::Launch> launches{
      launch("bn", "Sums", 3'000'000),
      {.kind = "product", .functor = {}, .library = true, .bytes = 1'000'000, .flop = 2e8}};
  CHECK(predicted_milliseconds(launches, target, gpu) ==
        doctest::Approx(1e-3 * (2 * kNodeMicroseconds + 3 + 2)));
  CHECK(predicted_milliseconds(launches, cuda_target(Precision::tf32), gpu) ==
        doctest::Approx(1e-3 * (2 * kNodeMicroseconds + 3 + 4)));
  CHECK(predicted_milliseconds(launches, cuda_target(Precision::fp32), gpu) ==
        doctest::Approx(1e-3 * (2 * kNodeMicroseconds + 3 + 20)));
}
