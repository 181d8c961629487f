// The exponential moving average of a block against its formula.
#include "optim/average.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "optim/lookahead.h"
#include "optim/update_launches.h"
#include "read.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kChunks = 17;
constexpr std::size_t kCount = kChunks * kChunk;

std::vector<double> wave(double phase) {
  std::vector<double> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = std::sin(static_cast<double>(i) + phase);
  return values;
}

/// One step of the average on the CPU.
void follow(std::vector<double>& average, std::vector<double> trained, const StepState& state,
            const AveragePolicy& rule, bool restart = false) {
  std::vector<double> running = average;  // 17 chunks and 3: more than a row, and less
  running.resize(3 * kChunk);
  make_cpu_update_launches(2)->average({.type = DType::f64,
                                        .weights = {average.data(), trained.data(), kChunks},
                                        .running = {running.data(), trained.data(), 3},
                                        .state = &state,
                                        .rule = rule,
                                        .restart = restart});
  CHECK(std::equal(running.begin(), running.end(), average.begin()));
}

}  // namespace

TEST_CASE("an average keeps d of itself and takes 1 - d of the weights") {
  std::vector<double> average = wave(0), expected = average;
  StepState state;
  for (int step = 0; step < 5; ++step) {
    const std::vector<double> trained = wave(0.3 * step);
    follow(average, trained, state, {.decay = 0.9});
    for (std::size_t i = 0; i < kCount; ++i) {
      expected[i] = 0.9 * expected[i] + (1 - 0.9) * trained[i];
    }
    ++state.step;
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    CHECK(average[i] == doctest::Approx(expected[i]).epsilon(1e-14));
  }
}

TEST_CASE("a warm-up keeps less at first: (1 + t) / (10 + t) after t steps, at most d") {
  for (const std::int64_t finished : {0, 1, 50, 100}) {
    std::vector<double> average(kCount, 1.0);
    const StepState state{.step = finished};
    follow(average, std::vector<double>(kCount, 0.0), state, {.decay = 0.9, .warmup = true});
    const double t = static_cast<double>(finished + 1);
    CHECK(average[5] == doctest::Approx(std::min(0.9, (1 + t) / (10 + t))).epsilon(1e-14));
  }
}

TEST_CASE("an average of every third step keeps its bits in the steps between") {
  std::vector<double> average = wave(0), expected = average;
  for (int step = 0; step < 7; ++step) {
    const std::vector<double> trained = wave(0.3 * step);
    follow(average, trained, {.step = step}, {.decay = 0.9, .every = 3});
    if (step == 2 || step == 5) follow(expected, trained, {}, {.decay = 0.9});
    CHECK(average == expected);
  }
}

TEST_CASE("the average of weights that do not change is those weights, bit for bit") {
  const std::vector<double> frozen = wave(0.7);
  std::vector<double> average = frozen;
  for (int step = 0; step < 100; ++step) follow(average, frozen, {.step = step}, {.decay = 0.999});
  CHECK(average == frozen);
}

TEST_CASE("a step that is withheld changes no average, and a restart copies every bit") {
  const std::vector<double> before = wave(0);
  std::vector<double> average = before, trained = wave(1);
  follow(average, trained, {.step = 4, .nonfinite_step = 4}, {.decay = 0.5});
  CHECK(average == before);
  trained[0] = -0.0;
  follow(average, trained, {.step = 4, .nonfinite_step = 4}, {.decay = 0.5}, true);
  CHECK(std::memcmp(average.data(), trained.data(), kCount * sizeof(double)) == 0);
}

TEST_CASE("Lookahead pulls slow weights to the trained ones, which become these") {
  std::vector<double> slow = wave(0), trained = wave(1);
  const std::vector<double> before = slow, fast = trained;
  RateWindow window{.first = 4};
  window.pulls[0] = -1;
  window.pulls[1] = 0.25;
  StepState state{.step = 4, .tried = 4};
  const auto pull = [&] {
    make_cpu_update_launches(2)->average({.type = DType::f64,
                                          .weights = {slow.data(), trained.data(), kChunks},
                                          .state = &state,
                                          .pulls = &window});
  };
  pull();  // a step without a pull
  CHECK(slow == before);
  CHECK(trained == fast);
  ++state.tried;
  state.nonfinite_step = 4;  // a step that is withheld
  pull();
  CHECK(slow == before);
  state.nonfinite_step = -1;
  pull();
  CHECK(slow[7] == before[7] + 0.25 * (fast[7] - before[7]));
  CHECK(trained == slow);
}

TEST_CASE("Lookahead pulls after every n-th step, by its schedule, and by 0 after the last step") {
  const ScheduleContext run{.base = 0.1, .steps = 8, .steps_per_epoch = 4};
  const auto pulls = [&](const Lookahead& lookahead) {
    std::vector<double> all;
    for (std::int64_t step = 0; step < 8; ++step) all.push_back(lookahead.pull_after(step, run));
    return all;
  };
  CHECK(pulls({.every = 3, .pull = 0.5}) == std::vector<double>{-1, -1, 0.5, -1, -1, 0.5, -1, 0});
  CHECK(pulls({.every = 3, .pull = 0.5, .schedule = test::schedule("linear: {by: step}")}) ==
        std::vector<double>{-1, -1, 0.5 * 6 / 8, -1, -1, 0.5 * 3 / 8, -1, 0});
}
