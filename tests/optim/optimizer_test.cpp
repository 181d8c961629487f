// Optimizer steps against their formulas, element by element in double.
#include <doctest/doctest.h>

#include <functional>

#include "blocks.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

using namespace test;

// Learning rates, decays and trust ratios that differ by segment.
const std::vector<Segment> kThreeSegments{
    {1.0, 0, 0.01, 0, 1}, {0.5, 0, 0, 0, 0}, {2.0, 0, 0.03, 0, 1}};

void update(const Optimizer& rule, int threads, const UpdateBlocks& blocks) {
  make_cpu_update_launches(threads)->update(blocks, rule.rule, rule.time_decay, {});
}

// State of one element in the reference.
struct Reference {
  double w, a = 0, b = 0;
};
// One step of the reference: (gradient, learning rate, decay, finished steps).
using Rule = std::function<void(Reference&, double, double, double, int)>;

// Five steps with a changing learning rate, compared after each.
void check_rule(const Optimizer& rule, const Rule& expected) {
  Blocks<double> blocks(7, kThreeSegments, rule.slots.size());
  std::vector<Reference> reference;
  for (const double w : blocks.weights) reference.push_back({w});
  for (int step = 0; step < 5; ++step) {
    blocks.set_gradients(step);
    blocks.state.step = step;
    blocks.state.rate = 0.1 / (step + 1);
    update(rule, 2, blocks.view());
    for (std::size_t i = 0; i < reference.size(); ++i) {
      const Segment& segment = blocks.segment_of(i);
      expected(reference[i], blocks.gradients[i], blocks.state.rate * segment.rate_multiplier,
               segment.decay, step);
      // Both in double with values below 10: a few dozen roundings of 2^-53 each.
      REQUIRE(std::abs(blocks.weights[i] - reference[i].w) < 1e-13);
    }
  }
}

TEST_CASE("sgd without momentum subtracts learning rate times gradient and has no state") {
  const auto sgd = optimizer("sgd");
  CHECK(sgd->slots.empty());
  check_rule(*sgd, [](Reference& e, double g, double rate, double decay, int) {
    e.w -= rate * (g + decay * e.w);
  });
}

TEST_CASE("sgd in Keras form has the learning rate in the velocity") {
  check_rule(*optimizer("sgd: {momentum: 0.9}"),
             [](Reference& e, double g, double rate, double decay, int) {
               e.a = 0.9 * e.a + rate * (g + decay * e.w);
               e.w -= e.a;
             });
}

TEST_CASE("sgd in torch form multiplies the velocity by the learning rate") {
  const auto torch = [](Reference& e, double g, double rate, double decay, int) {
    e.a = 0.9 * e.a + g + decay * e.w;
    e.w -= rate * e.a;
  };
  check_rule(*optimizer("sgd: {momentum: 0.9, momentum_form: torch}"), torch);
  check_rule(*optimizer("sgd: {momentum: 0.9}", config::Profile::torch), torch);
}

TEST_CASE("Nesterov in Keras form looks ahead with the learning rate inside") {
  check_rule(*optimizer("sgd: {momentum: 0.8, nesterov: true}"),
             [](Reference& e, double g, double rate, double decay, int) {
               const double velocity = 0.8 * e.a - rate * (g + decay * e.w);
               e.w += 0.8 * velocity - rate * (g + decay * e.w);
               e.a = velocity;
             });
}

TEST_CASE("Nesterov in torch form looks ahead with the learning rate outside") {
  check_rule(*optimizer("sgd: {momentum: 0.8, nesterov: true, momentum_form: torch}"),
             [](Reference& e, double g, double rate, double decay, int) {
               const double gradient = g + decay * e.w;
               e.a = 0.8 * e.a + gradient;
               e.w -= rate * (gradient + 0.8 * e.a);
             });
}

TEST_CASE("Keras's decay divides the learning rate by 1 + decay times finished steps") {
  check_rule(*optimizer("sgd: {decay: 0.5}"),
             [](Reference& e, double g, double rate, double decay, int done) {
               e.w -= rate / (1 + 0.5 * done) * (g + decay * e.w);
             });
}

TEST_CASE("rmsprop divides by the root of the running square plus epsilon") {
  check_rule(*optimizer("rmsprop: {rho: 0.8, epsilon: 0.01}"),
             [](Reference& e, double g, double rate, double decay, int) {
               const double gradient = g + decay * e.w;
               e.a = 0.8 * e.a + (1 - 0.8) * gradient * gradient;
               e.w -= rate * gradient / (std::sqrt(e.a) + 0.01);
             });
}

TEST_CASE("adagrad divides by the root of the summed squares plus epsilon") {
  check_rule(*optimizer("adagrad: {epsilon: 0.01}"),
             [](Reference& e, double g, double rate, double decay, int) {
               const double gradient = g + decay * e.w;
               e.a += gradient * gradient;
               e.w -= rate * gradient / (std::sqrt(e.a) + 0.01);
             });
}

TEST_CASE("adam in Keras form adds epsilon to the uncorrected root") {
  check_rule(*optimizer("adam: {epsilon: 0.01}"),
             [](Reference& e, double g, double rate, double decay, int done) {
               const double gradient = g + decay * e.w;
               e.a = 0.9 * e.a + 0.1 * gradient;
               e.b = 0.999 * e.b + 0.001 * gradient * gradient;
               const double left1 = 1 - std::pow(0.9, done + 1);
               const double left2 = 1 - std::pow(0.999, done + 1);
               e.w -= rate * std::sqrt(left2) / left1 * e.a / (std::sqrt(e.b) + 0.01);
             });
}

TEST_CASE("adam in torch form corrects both means before epsilon") {
  check_rule(*optimizer("adam: {epsilon: 0.01, form: torch}"),
             [](Reference& e, double g, double rate, double decay, int done) {
               const double gradient = g + decay * e.w;
               e.a = 0.9 * e.a + 0.1 * gradient;
               e.b = 0.999 * e.b + 0.001 * gradient * gradient;
               const double mean = e.a / (1 - std::pow(0.9, done + 1));
               const double square = e.b / (1 - std::pow(0.999, done + 1));
               e.w -= rate * mean / (std::sqrt(square) + 0.01);
             });
}

TEST_CASE("float steps match double steps to float precision") {
  for (const auto& rule : test::every_optimizer()) {
    Blocks<double> wide(7, kThreeSegments, rule->slots.size());
    Blocks<float> narrow(7, kThreeSegments, rule->slots.size());
    update(*rule, 1, wide.view());
    update(*rule, 1, narrow.view());
    for (std::size_t i = 0; i < wide.weights.size(); ++i) {
      // Inputs rounded to 2^-24 relative, near cancellation of w and its change: values below 2.
      // rmsprop and adam divide g by |g|, which keeps relative errors.
      REQUIRE(std::abs(wide.weights[i] - static_cast<double>(narrow.weights[i])) < 2e-6);
    }
  }
}

TEST_CASE("frozen parameters, and all parameters after a non-finite step, do not change") {
  for (const auto& rule : test::every_optimizer()) {
    std::vector<Segment> segments = kThreeSegments;
    segments[1].frozen = 1;
    Blocks<float> blocks(7, segments, rule->slots.size());
    const Blocks<float> before = blocks;
    update(*rule, 1, blocks.view());
    std::int64_t changed = 0;
    for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
      if (blocks.segment_of(i).frozen != 0) {
        REQUIRE(blocks.weights[i] == before.weights[i]);
      } else {
        changed += blocks.weights[i] != before.weights[i] ? 1 : 0;
      }
    }
    CHECK(changed > 200);  // elements of 5 chunks of 64
    const Blocks<float> good = blocks;
    blocks.gradients.assign(blocks.gradients.size(), std::nanf(""));
    for (const std::int64_t marked : {0, 3}) {
      blocks.state.nonfinite_step = marked;
      update(*rule, 1, blocks.view());
      CHECK(blocks.weights == good.weights);
      CHECK(blocks.slots == good.slots);
    }
  }
}

TEST_CASE("a parameter is trained from its first step until its end, its state too") {
  const auto rule = optimizer("sgd: {momentum: 0.9}");
  std::vector<Segment> segments = kThreeSegments;
  segments[1].first_step = 2;
  segments[1].end_step = 4;
  Blocks<float> blocks(7, segments, 1);
  for (std::int64_t step = 0; step < 6; ++step) {
    const Blocks<float> before = blocks;
    blocks.state.tried = step;
    update(*rule, 1, blocks.view());
    const bool trained = step >= 2 && step < 4;
    CHECK((blocks.weights[kChunk] != before.weights[kChunk]) == trained);
    CHECK((blocks.slots[0][kChunk] != before.slots[0][kChunk]) == trained);
    CHECK(blocks.weights[0] != before.weights[0]);
  }
}

TEST_CASE("a rule updates the spans that it is given, and no others") {
  const auto rule = optimizer("adam");
  Blocks<float> all(7, kThreeSegments, 2);
  Blocks<float> some = all;
  const Blocks<float> before = all;
  update(*rule, 2, all.view());
  const ChunkSpans spans = chunk_spans(some.segment_of_chunk, std::vector<std::int32_t>{5, 1, 2});
  UpdateBlocks view = some.view();
  view.spans = spans.spans.data();
  view.span_count = 3;
  update(*rule, 2, view);
  for (std::size_t i = 0; i < all.weights.size(); ++i) {
    const std::size_t chunk = i / kChunk;
    const bool updated = chunk == 1 || chunk == 2 || chunk == 5;
    REQUIRE(some.weights[i] == (updated ? all : before).weights[i]);
    REQUIRE(some.slots[1][i] == (updated ? all : before).slots[1][i]);
  }
}

TEST_CASE("decay that is not decoupled adds decay times the weight to the gradient of every rule") {
  for (const auto& rule : test::every_optimizer()) {
    if (std::holds_alternative<Lamb>(rule->rule)) continue;  // it is added to the direction
    Blocks<double> decayed(1, {{.decay = 0.25}}, rule->slots.size());
    Blocks<double> added(1, {{}}, rule->slots.size());
    for (std::size_t i = 0; i < kChunk; ++i) added.gradients[i] += 0.25 * added.weights[i];
    update(*rule, 1, decayed.view());
    update(*rule, 1, added.view());
    CHECK(decayed.weights == added.weights);
    CHECK(decayed.slots == added.slots);
  }
}

TEST_CASE("decoupled decay shrinks the weight by the rate times the decay, without momentum") {
  std::vector<Segment> segments(1);
  segments[0].rate_multiplier = 2;
  segments[0].decoupled_decay = 0.5;
  Blocks<double> blocks(3, segments, 1);
  const Blocks<double> before = blocks;
  blocks.gradients.assign(blocks.gradients.size(), 0);
  update(*optimizer("sgd: {momentum: 0.9}"), 1, blocks.view());
  for (std::size_t i = 0; i < blocks.weights.size(); ++i) {
    REQUIRE(blocks.weights[i] == (1 - 0.1 * 2 * 0.5) * before.weights[i]);
    REQUIRE(blocks.slots[0][i] == 0);
  }
}

TEST_CASE("steps on 1 and on 3 threads are bit-identical") {
  for (const auto& rule : test::every_optimizer()) {
    Blocks<float> one(101, kThreeSegments, rule->slots.size());
    Blocks<float> three = one;
    update(*rule, 1, one.view());
    update(*rule, 3, three.view());
    CHECK(one.weights == three.weights);
    CHECK(one.slots == three.slots);
  }
}

TEST_CASE("zero padding of a chunk stays zero") {
  for (const auto& rule : test::every_optimizer()) {
    Blocks<float> blocks(1, kThreeSegments, rule->slots.size());
    blocks.weights.assign(kChunk, 0);
    blocks.gradients.assign(kChunk, 0);
    update(*rule, 1, blocks.view());
    CHECK(blocks.weights == std::vector<float>(kChunk, 0));
  }
}

}  // namespace
}  // namespace trainyard
