// Norms of single parameters, and the rules whose rates they scale.
#include "optim/segment_norms.h"

#include <doctest/doctest.h>

#include <cmath>

#include "blocks.h"
#include "launcher/launch.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

using namespace test;

constexpr auto kRun = static_cast<std::int32_t>(run_length(1));
const std::vector<Segment> kAdapted{{.decay = 0.25, .adapted = 1}};

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

TEST_CASE("the spans of a segment are cut by length and by what lies between") {
  std::vector<std::int32_t> segment_of_chunk(static_cast<std::size_t>(2 * kRun + 5), 4);
  segment_of_chunk[2] = 1;
  const ChunkSpans found = chunk_spans(segment_of_chunk);
  const std::vector<std::vector<std::int32_t>> spans{
      {1, 2, 1}, {4, 0, 2}, {4, 3, kRun}, {4, 3 + kRun, kRun}, {4, 3 + 2 * kRun, 2}};
  REQUIRE(found.spans.size() == spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const ChunkSpan& span = found.spans[i];
    CHECK(std::vector<std::int32_t>{span.segment, span.first, span.chunks} == spans[i]);
  }
  REQUIRE(found.segments.size() == 2);
  CHECK(found.segments[0].segment == 1);
  CHECK(found.segments[0].count == 1);
  CHECK(found.segments[1].segment == 4);
  CHECK(found.segments[1].first == 1);
  CHECK(found.segments[1].count == 4);
}

TEST_CASE("only the chunks that are asked for have spans") {
  const std::vector<std::int32_t> segment_of_chunk{0, 0, 1, 1, 2};
  const ChunkSpans found = chunk_spans(segment_of_chunk, std::vector<std::int32_t>{3, 2, 4});
  CHECK(found.segments.size() == 2);
  CHECK(found.spans.size() == 3);  // 3 before 2: no span goes backwards
  CHECK(chunk_spans(segment_of_chunk, {}).spans.empty());
}

TEST_CASE("large models have longer spans, of which at most 8192 are full") {
  CHECK(run_length(1) == 16);
  CHECK(run_length(8192 * 16) == 16);
  CHECK(run_length(8192 * 16 + 1) == 32);
  CHECK(run_length(25'600'000 / kChunk) == 64);  // ResNet-50: 4,096 elements
}

TEST_CASE("norms are the roots of the sums of squares, for any number of threads") {
  for (const std::size_t segments : {1, 3}) {
    Blocks<float> blocks(2 * kRun + 7, std::vector<Segment>(segments), 0);
    std::vector<Norms> expected(segments);
    for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
      const double w = static_cast<double>(blocks.weights[i]);
      const double g = static_cast<double>(blocks.gradients[i]);
      Norms& sums = expected[static_cast<std::size_t>(blocks.segment_of_chunk[i / kChunk])];
      sums.weights += w * w;
      sums.gradients += g * g;
    }
    segment_norms<float>(CpuLauncher(3), blocks.view(), {});
    const std::vector<Norms> three = blocks.norms;
    segment_norms<float>(CpuLauncher(1), blocks.view(), {});
    for (std::size_t s = 0; s < segments; ++s) {
      // Sums of at most 2,500 positive terms: relative errors below 2,500 * 2^-53 = 3e-13.
      CHECK(std::abs(three[s].weights / std::sqrt(expected[s].weights) - 1) < 3e-13);
      CHECK(std::abs(three[s].gradients / std::sqrt(expected[s].gradients) - 1) < 3e-13);
      CHECK(blocks.norms[s].weights == three[s].weights);
      CHECK(blocks.norms[s].gradients == three[s].gradients);
    }
  }
}

/// How far the weights of blocks move in one step.
double moved(Blocks<double> blocks, const std::string& yaml) {
  const std::vector<double> before = blocks.weights;
  const auto rule = optimizer(yaml);
  make_cpu_update_launches(1)->update(blocks.view(), rule->rule, 0, {});
  std::vector<double> change(before.size());
  for (std::size_t i = 0; i < change.size(); ++i) change[i] = blocks.weights[i] - before[i];
  return norm(change);
}

TEST_CASE("lars moves a parameter in proportion to its norm, whatever the size of its gradient") {
  Blocks<double> blocks(3, {{.adapted = 1}}, 1);
  const double size = norm(blocks.weights);
  for (const double factor : {1.0, 1e-3, 1e3}) {
    for (double& g : blocks.gradients) g *= factor;
    // eta and the rate, 0.1; epsilon is 1e-8 of a gradient's norm of at least 1e-2.
    CHECK(moved(blocks, "lars") == doctest::Approx(1e-4 * size).epsilon(1e-5));
  }
  CHECK(moved(blocks, "lars: {eta: 0.5}") == doctest::Approx(0.05 * size).epsilon(1e-5));
}

TEST_CASE("lamb moves a parameter by its norm times the rate, with its decay") {
  const Blocks<double> blocks(3, kAdapted, 2);
  CHECK(moved(blocks, "lamb") == doctest::Approx(0.1 * norm(blocks.weights)).epsilon(1e-12));
}

TEST_CASE("the ratio is 1 where a norm is 0, and for parameters that are not adapted") {
  const Lars lars{{}, 0.5, 1};
  CHECK(lars.trust_ratio(4, 2, {0.25}) == 0.5 * 4 / (2 + 0.25 * 4 + 1));
  CHECK(lars.trust_ratio(0, 2, {0.25}) == 1);
  CHECK(lars.trust_ratio(4, 0, {0.25}) == 1);
  CHECK(Lamb{}.trust_ratio(4, 2, {0.25}) == 2);
  CHECK(Lamb{}.trust_ratio(0, 2, {0.25}) == 1);
  CHECK(Lamb{}.trust_ratio(4, 0, {0.25}) == 1);
  CHECK(Lamb{}.trust_ratio(4, 2, {}) == 1);  // as in apex without use_nvlamb
  CHECK(Lamb{}.trust_ratio(4, 2, {.decoupled = 0.25}) == 2);
  Blocks<double> blocks(3, {{}}, 2);
  // Adam's first step is the sign of the gradient, but for epsilon.
  CHECK(moved(blocks, "lamb") == doctest::Approx(0.1 * std::sqrt(3.0 * kChunk)).epsilon(1e-3));
  CHECK(moved(blocks, "lars: {momentum: 0}") == moved(blocks, "sgd"));
  blocks.segments[0].adapted = 1;
  blocks.weights.assign(blocks.weights.size(), 0);
  CHECK(moved(blocks, "lars: {momentum: 0}") == moved(blocks, "sgd"));
}

TEST_CASE("a ratio is of the clipped gradient, and a direction is of it") {
  const auto clipped = [](Blocks<double> blocks, double maximum) {
    const double size = norm(blocks.gradients);
    UpdateBlocks view = blocks.view();
    view.clip = {&size, maximum};
    make_cpu_update_launches(1)->update(view, optimizer("lars: {epsilon: 1}")->rule, 0, {});
    const std::vector<double> by_lars = blocks.weights;
    make_cpu_update_launches(1)->update(view, optimizer("lamb")->rule, 0, {});
    return std::make_pair(by_lars, blocks.weights);
  };
  const Blocks<double> blocks(3, {{.adapted = 1}}, 2);
  Blocks<double> half = blocks;
  for (double& g : half.gradients) g *= 0.5;
  CHECK(clipped(blocks, norm(half.gradients)) == clipped(half, 0));
  CHECK(clipped(blocks, 0) != clipped(half, 0));
}

TEST_CASE("decoupled decay is by the rate without the ratio") {
  Blocks<double> blocks(3, {{.adapted = 1, .decoupled_decay = 0.5}}, 1);
  const Blocks<double> before = blocks;
  blocks.gradients.assign(blocks.gradients.size(), 0);
  blocks.gradients[0] = 1e-3;
  make_cpu_update_launches(1)->update(blocks.view(), optimizer("lars")->rule, 0, {});
  for (std::size_t i = 1; i < blocks.weights.size(); ++i) {
    REQUIRE(blocks.weights[i] == (1 - 0.1 * 0.5) * before.weights[i]);
  }
  CHECK(blocks.weights[0] < (1 - 0.1 * 0.5) * before.weights[0]);
}

TEST_CASE("the direction takes the gradient's place, but not that of a frozen parameter") {
  Blocks<double> blocks(2, {{.decay = 0.25}, {.frozen = 1}}, 2);
  const Blocks<double> before = blocks;
  make_cpu_update_launches(1)->update(blocks.view(), optimizer("lamb")->rule, 0, {});
  for (std::size_t i = 0; i < kChunk; ++i) {
    const double g = before.gradients[i];
    // (1 - b) g / (1 - b) and its root, within some roundings; 1e-6 is lamb's epsilon.
    const double direction = g / (std::abs(g) + 1e-6) + 0.25 * before.weights[i];
    REQUIRE(std::abs(blocks.gradients[i] - direction) < 1e-13);
    REQUIRE(blocks.gradients[kChunk + i] == before.gradients[kChunk + i]);
  }
}

}  // namespace
}  // namespace trainyard
