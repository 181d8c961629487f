// GPU speed by what can be counted: a step's nodes and own bytes are the committed figures.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/counted_step.h"
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

TEST_CASE("a predicted time is that of each node alone, by the rate of its kind") {
  const Target target = cuda_target(Precision::bf16);
  const GpuRates gpu{.name = "of the test",
                     .gigabytes_per_second = 1000,
                     .gflops_16 = 100e3,
                     .gflops_tf32 = 50e3,
                     .gflops_f32 = 10e3,
                     .source = ""};
  // 1 MB take 1 us, 100 MFLOP take 1 us in 16 bits and 10 us in f32, at a share of 1.
  counted::Launch product{
      .kind = "product", .functor = {}, .library = true, .bytes = 1'000'000, .flop = 2e8};
  const std::vector<counted::Launch> launches{launch("bn", "BatchMoments", 3'000'000), product};
  const NodeRate& sums = rate_of(launches[0]);
  const NodeRate& other = rate_of(product);
  const double latency = sums.microseconds + 3 / sums.share + other.microseconds;
  CHECK(predicted_milliseconds(launches, target, gpu) ==
        doctest::Approx(1e-3 * (latency + 2 / other.share)));
  CHECK(predicted_milliseconds(launches, cuda_target(Precision::tf32), gpu) ==
        doctest::Approx(1e-3 * (latency + 4 / other.share)));
  CHECK(predicted_milliseconds(launches, cuda_target(Precision::fp32), gpu) ==
        doctest::Approx(1e-3 * (latency + 20 / other.share)));
  // What runs beside counts as well.
  product.on_side_queue = true;
  const NodeRate& beside = rate_of(product);
  CHECK(predicted_milliseconds({launches[0], product}, target, gpu) ==
        doctest::Approx(
            1e-3 * (sums.microseconds + 3 / sums.share + beside.microseconds + 2 / beside.share)));
}

TEST_CASE("a launch has the first rate of its kind, functor and queue") {
  const auto microseconds = [](const char* kind, const char* functor, bool beside) {
    counted::Launch of = launch(kind, functor, 0);
    of.on_side_queue = beside;
    return rate_of(of).microseconds;
  };
  CHECK(microseconds("convolution", "NarrowConv", false) == 2.9);
  CHECK(microseconds("convolution", "", false) == 4.8);
  CHECK(microseconds("convolution", "", true) == 16.2);
  CHECK(microseconds("bn", "NormaliseRows", false) == 1.2);
  CHECK(microseconds("bn", "ChannelScale", false) == 2.2);
  CHECK(microseconds("bias gradient", "BiasGradientRows", true) == 2.2);
  CHECK(microseconds("max_pool", "MaxPoolGradient", false) == 0);
  CHECK(node_rates().back().kind.empty());
}

TEST_CASE("captured steps that GPUs were measured at are predicted within 15 %") {
  const auto predicted = [&](const GpuRates& gpu, const char* name, Precision precision) {
    Target target = cuda_target(precision);
    target.can.set(Can::join_siblings, false).set(Can::merge_launches, false);  // these came later
    const fs::path bench = fs::path(TY_SOURCE_DIR) / "scripts/bench";
    const RunConfig run = read_run_config(bench / (std::string(name) + ".yaml"), {});
    const auto launches = count_step(run, make_training_graph(run, 128), target);
    return 1e3 * predicted_milliseconds(launches, target, gpu);
  };
  // docs/results/log/gpu.md, "On an H200" and "On an H100".
  const GpuRates &h200 = known_gpu_rates()[0], &h100 = known_gpu_rates()[1];
  REQUIRE(h200.name == "H200");
  REQUIRE(h100.name == "H100");
  CHECK(predicted(h200, "resnet20", Precision::bf16) == doctest::Approx(1316).epsilon(0.15));
  CHECK(predicted(h200, "minigooglenet", Precision::bf16) == doctest::Approx(2009).epsilon(0.15));
  CHECK(predicted(h200, "cnn", Precision::bf16) == doctest::Approx(380).epsilon(0.15));
  CHECK(predicted(h200, "resnet20", Precision::tf32) == doctest::Approx(1813).epsilon(0.15));
  CHECK(predicted(h200, "minigooglenet", Precision::tf32) == doctest::Approx(3158).epsilon(0.15));
  CHECK(predicted(h100, "resnet20", Precision::bf16) == doctest::Approx(1296).epsilon(0.15));
  CHECK(predicted(h100, "minigooglenet", Precision::bf16) == doctest::Approx(2114).epsilon(0.15));
  CHECK(predicted(h100, "cnn", Precision::bf16) == doctest::Approx(386).epsilon(0.15));
  CHECK(predicted(h100, "resnet20", Precision::tf32) == doctest::Approx(1835).epsilon(0.15));
}
