// The end of the gradients' sums: scales, L2 terms, norm and clipping.
#include "optim/gradient.h"

#include <doctest/doctest.h>

#include <functional>
#include <limits>

#include "blocks.h"
#include "launcher/launch.h"
#include "optim/gradient_sums.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

using test::Blocks;

const std::vector<Segment> kFourSegments{
    {1, 1e-2, 0, 0}, {1, 0, 0, 0}, {1, 0.5, 0, 1}, {1, 1, 0, 0}};
const std::vector<Segment> kOneSegment{{1, 1e-2, 0, 0}};
// More than two spans of one segment, the last one short.
constexpr std::int64_t kChunks = 2 * run_length(1) + 7;

/// Runs the end of the gradients and returns the norm.
template <class T>
double finish(Blocks<T>& blocks, const std::function<void(GradientFinish&)>& set, int threads = 2) {
  double norm = -1;
  GradientFinish task = blocks.finish(&norm);
  set(task);
  finish_gradients(CpuLauncher(threads), blocks.view(), task);
  return norm;
}
const auto kPlain = [](GradientFinish&) {};

template <class T>
double norm_of(const std::vector<T>& values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

TEST_CASE("L2 terms are twice l2 times the weight, but not for frozen parameters") {
  for (const std::vector<Segment>& segments : {kFourSegments, kOneSegment}) {
    Blocks<double> blocks(kChunks, segments, 0);
    const Blocks<double> before = blocks;
    const double norm = finish(blocks, kPlain);
    for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
      const Segment& segment = blocks.segment_of(i);
      const double l2 = segment.frozen != 0 ? 0 : segment.l2;
      REQUIRE(blocks.gradients[i] == before.gradients[i] + 2 * l2 * before.weights[i]);
    }
    CHECK(std::abs(norm / norm_of(blocks.gradients) - 1) < 4e-12);
  }
  CHECK(has_l2(kFourSegments));
  CHECK_FALSE(has_l2(std::vector<Segment>(3)));
}

TEST_CASE("unscaling divides all gradients by the loss scale, before L2 terms are added") {
  Blocks<double> blocks(kChunks, kFourSegments, 0);
  const Blocks<double> before = blocks;
  blocks.state.loss_scale = 4;
  finish(blocks, [](GradientFinish& task) { task.unscale = true; });
  for (std::size_t i = 0; i < blocks.gradients.size(); ++i) {
    const Segment& segment = blocks.segment_of(i);
    const double l2 = segment.frozen != 0 ? 0 : segment.l2;
    REQUIRE(blocks.gradients[i] == before.gradients[i] / 4 + 2 * l2 * before.weights[i]);
  }
}

TEST_CASE("a gradient that no pass writes is 0, whatever a direction or an L2 term left there") {
  std::vector<Segment> segments = kFourSegments;
  segments[0].unwritten = segments[1].unwritten = 1;
  Blocks<double> blocks(kChunks, segments, 0);
  const Blocks<double> before = blocks;
  for (int step = 0; step < 2; ++step) {
    const double norm = finish(blocks, kPlain);
    for (std::size_t i = 0; i < blocks.gradients.size(); ++i) {
      const Segment& segment = blocks.segment_of(i);
      if (segment.unwritten == 0) continue;
      REQUIRE(blocks.gradients[i] == 2 * segment.l2 * before.weights[i]);
    }
    CHECK(std::abs(norm / norm_of(blocks.gradients) - 1) < 4e-12);
  }
}

TEST_CASE("sums of batch means take the biases that they lack, once for each replica") {
  // Six chunks of parameters, then three of statistics, of which the last lacks no bias.
  for (const int threads : {1, 3}) {
    Blocks<double> blocks(9, {{}}, 0);
    const Blocks<double> before = blocks;
    const std::vector<BiasedMeans> biased{{.means = 6, .biases = 4}, {.means = 7, .biases = 1}};
    UpdateBlocks view = blocks.view();
    double norm = 0;
    const double replicas = 4;
    GradientFinish task = blocks.finish(&norm);
    task.biased = biased.data();
    task.biased_count = 2;
    task.replicas = &replicas;
    const std::vector<ChunkSpan> spans{{.segment = 0, .first = 0, .chunks = 6}};
    view.spans = spans.data();
    view.span_count = 1;
    finish_gradients(CpuLauncher(threads), view, task);
    for (std::size_t i = 0; i < blocks.gradients.size(); ++i) {
      const std::size_t chunk = i / kChunk;
      const double bias = chunk == 6   ? before.weights[i - 2 * kChunk]
                          : chunk == 7 ? before.weights[i - 6 * kChunk]
                                       : 0;
      REQUIRE(blocks.gradients[i] == before.gradients[i] + 4 * bias);
    }
    std::vector<double> parameters(before.gradients.begin(), before.gradients.begin() + 6 * kChunk);
    CHECK(std::abs(norm / norm_of(parameters) - 1) < 4e-12);
  }
}

TEST_CASE("the launch that ends the gradients sums results of the batch too") {
  Blocks<double> blocks(kChunks, kFourSegments, 0);
  blocks.state.valid = 2;
  const std::vector<double> values{1, 2, 4, 8, 16, 32};  // [3, 2]
  std::vector<double> totals{0.5, 0.25};
  finish(blocks, [&](GradientFinish& task) {
    task.results = {{.list = {{values.data(), DType::f64, 2}},
                     .count = 1,
                     .samples = 3,
                     .state = &blocks.state},
                    totals.data()};
  });
  CHECK(totals == std::vector<double>{0.5 + 1 + 4, 0.25 + 2 + 8});
}

TEST_CASE("with weights of samples the mean over them takes the place of that over samples") {
  const std::vector<double> weights{8, 5};  // weights of five samples
  Blocks<double> blocks(7, {{}}, 0);
  const Blocks<double> before = blocks;
  finish(blocks, [&](GradientFinish& task) {
    task.samples = 32;
    task.weights = weights.data();
  });
  for (std::size_t i = 0; i < blocks.gradients.size(); ++i) {
    REQUIRE(blocks.gradients[i] == before.gradients[i] * 4);
  }
  CHECK(blocks.state.nonfinite_step == -1);
}

TEST_CASE("a step of which no sample counts is withheld and marked as skipped, whatever it holds") {
  const std::vector<double> weights{0, 0};
  for (const float gradient : {1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::int64_t earlier : {-1, 3}) {
      Blocks<float> blocks(kChunks, kFourSegments, 0);
      blocks.state = {.step = 12, .nonfinite_step = earlier};
      blocks.gradients.back() = gradient;
      double skipped = 0;
      const double norm = finish(blocks, [&](GradientFinish& task) {
        task.weights = weights.data();
        task.skipped = &skipped;
      });
      CHECK(norm == 0);
      for (std::size_t i = 0; i + 1 < blocks.gradients.size(); ++i) {
        const Segment& segment = blocks.segment_of(i);
        const auto l2 = static_cast<float>(segment.frozen != 0 ? 0 : 2 * segment.l2);
        REQUIRE(blocks.gradients[i] == l2 * blocks.weights[i]);
      }
      // A step that must not be undone stays marked.
      CHECK(blocks.state.nonfinite_step == (earlier < 0 ? 12 : 3));
      CHECK(skipped == (earlier < 0 ? 1 : 0));
    }
  }
}

TEST_CASE("micro-batches without a sample that counts are left out of the sums") {
  const CpuLauncher launcher(1);
  for (const std::vector<double>& counted :
       std::vector<std::vector<double>>{{2, 2, 5}, {0, 0, 3}, {0, 4, 4}, {0, 0, 0}, {1, 2, 3}}) {
    MicroBatches of_step{.samples = 99, .count = 9, .replicas = 99, .counts = true};
    std::vector<double> sum{std::nan("")}, expected{std::nan("")};
    std::int64_t count = 0;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const std::vector<double> gradients{std::pow(10.0, i)};
      const bool counts = counted[i] > (i == 0 ? 0 : counted[i - 1]);
      if (counts) expected[0] = (count++ == 0 ? 0 : expected[0]) + gradients[0];
      make_cpu_update_launches(1)->judge({&of_step, &counted[i], 4, i == 0});
      CHECK(of_step.counts == counts);
      launcher.each(1, AddGradients<double>{sum.data(), gradients.data(), i == 0, &of_step});
    }
    CHECK(of_step.count == count);
    CHECK(of_step.replicas == 4 * static_cast<double>(count));
    CHECK((count == 0 ? std::isnan(sum[0]) : sum == expected));
  }
}

TEST_CASE("the first micro-batch sets the sum of gradients, the others add to it") {
  const std::vector<double> gradients{1, -2, 3};
  std::vector<double> sum{std::nan(""), std::nan(""), std::nan("")};
  const CpuLauncher launcher(1);
  launcher.each(3, AddGradients<double>{sum.data(), gradients.data(), true});
  CHECK(sum == gradients);
  launcher.each(3, AddGradients<double>{sum.data(), gradients.data(), false});
  CHECK(sum == std::vector<double>{2, -4, 6});
}

TEST_CASE("gradients in 16 bits are rounded once and come back as they are") {
  const auto launches = make_cpu_update_launches(1);
  const std::vector<float> values{1 + 0x1p-9F, -3.5F};
  for (const DType type : {DType::bf16, DType::f16}) {
    std::vector<std::uint16_t> rounded(2);
    std::vector<float> back(2);
    launches->downcast(rounded.data(), type, values.data(), 2);
    launches->upcast(back.data(), rounded.data(), type, 2);
    const bool wide = type == DType::f16;  // 11 bits, not 8
    CHECK(rounded[0] == (wide ? Float16(values[0]).bits : BFloat16(values[0]).bits));
    CHECK(back == std::vector<float>{wide ? values[0] : 1, -3.5F});
  }
}

TEST_CASE("the regularisation loss is the sum of l2 w^2, frozen parameters included") {
  Blocks<double> blocks(kChunks, kFourSegments, 0);
  double expected = 0;
  for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
    expected += blocks.segment_of(i).l2 * blocks.weights[i] * blocks.weights[i];
  }
  double loss = 0;
  regularisation_loss(CpuLauncher(2), blocks.view(), blocks.run_sums(), &loss);
  // A sum of 2,500 positive terms: relative error below 2,500 * 2^-53 = 3e-13.
  CHECK(std::abs(loss - expected) < 3e-13 * expected);
}

TEST_CASE("the gradient norm is the root of the sum of squares, and changes no gradient") {
  for (const std::size_t segments : {1, 3}) {
    Blocks<float> blocks(kChunks, std::vector<Segment>(segments), 0);
    const std::vector<float> before = blocks.gradients;
    const double norm = finish(blocks, kPlain);
    CHECK(std::abs(norm / norm_of(before) - 1) < 3e-13);
    CHECK(blocks.gradients == before);
  }
}

TEST_CASE("norms do not depend on the number of threads") {
  Blocks<float> blocks(kChunks, std::vector<Segment>(3), 0);
  const double one = finish(blocks, kPlain, 1), three = finish(blocks, kPlain, 3);
  CHECK(one == three);
  CHECK(one > 1);
}

TEST_CASE("a NaN in the gradient or in the loss marks the step once") {
  Blocks<float> blocks(kChunks, kFourSegments, 0);
  blocks.state.step = 12;
  finish(blocks, kPlain);
  CHECK(blocks.state.nonfinite_step == -1);
  blocks.loss = std::numeric_limits<double>::infinity();
  CHECK(std::isfinite(finish(blocks, kPlain)));
  CHECK(blocks.state.nonfinite_step == 12);
  blocks.state = {.step = 0};  // step 0 can be marked too
  blocks.loss = 1;
  blocks.gradients.back() = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(finish(blocks, kPlain)));
  CHECK(blocks.state.nonfinite_step == 0);
  blocks.state.step = 13;
  finish(blocks, kPlain);
  CHECK(blocks.state.nonfinite_step == 0);
}

TEST_CASE("a rule reads gradients that are clipped to the maximum") {
  Blocks<double> blocks(kChunks, std::vector<Segment>(3), 0);
  const Blocks<double> before = blocks;
  double norm = finish(blocks, kPlain);
  const auto moved = [&](double maximum) {
    blocks.weights = before.weights;
    UpdateBlocks view = blocks.view();
    view.clip = {&norm, maximum};
    make_cpu_update_launches(1)->update(view, test::optimizer("sgd")->rule, 0, {});
    std::vector<double> change(before.weights.size());
    for (std::size_t i = 0; i < change.size(); ++i) {
      change[i] = (before.weights[i] - blocks.weights[i]) / blocks.state.rate;
    }
    return norm_of(change);
  };
  // 2,500 terms and a few roundings per element, some of values near 1.
  CHECK(std::abs(moved(1.5) - 1.5) < 1e-12);
  CHECK(std::abs(moved(2 * norm) / norm - 1) < 1e-12);
  CHECK(moved(0) == moved(2 * norm));
  CHECK(clip_factor(std::numeric_limits<double>::quiet_NaN(), 1.0) == 1.0);
  CHECK(clip_factor(4, 1) == 0.25);
  CHECK(clip_factor(4, 0) == 1);
}

}  // namespace
}  // namespace trainyard
