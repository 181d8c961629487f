#include "run/rate_search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/rate_search_output.h"

using namespace trainyard;

namespace {

/// Steps whose rates grow tenfold from 1e-4, with these smoothed losses.
std::vector<RateChange> steps_of(const std::vector<double>& losses) {
  std::vector<RateChange> steps;
  double rate = 1e-4;
  for (const double loss : losses) {
    steps.push_back({.step = std::ssize(steps) + 1, .rate = rate, .loss = loss, .smoothed = loss});
    rate *= 10;
  }
  return steps;
}

}  // namespace

TEST_CASE(
    "a tenth of the rate with the lowest smoothed loss is suggested, or where it fell fastest") {
  const RateSearch search = judge_rates(steps_of({2, 1.9, 1, 0.8, 5}), true);
  REQUIRE(search.suggested.has_value());
  CHECK(*search.lowest == doctest::Approx(0.1));
  CHECK(*search.steepest == doctest::Approx(0.01));
  CHECK(*search.suggested == doctest::Approx(0.01));
  CHECK(rate_search_text(search, "optimizer.sgd.lr") ==
        "5 steps, learning rate 0.0001 to 1, where the loss diverged\n"
        "the smoothed loss was lowest at 0.1 and fell fastest at 0.01\n"
        "suggested: --set optimizer.sgd.lr=0.01\n");
  CHECK(rate_search_csv(search).starts_with("step,lr,loss,smoothed_loss\n1,1e-04,2,2\n"));
}

TEST_CASE("a loss that falls to the end is judged by where it fell fastest") {
  const RateSearch search = judge_rates(steps_of({2, 1, 0.1, 0.01, 0.001, 0.0001}), false);
  CHECK(*search.lowest == doctest::Approx(10));
  CHECK(*search.suggested == doctest::Approx(1e-3));
}

TEST_CASE("noise of single steps is no fall, and does not end the curve of the batches") {
  std::vector<RateChange> steps;
  for (int i = 0; i < 100; ++i) {
    const double fallen = std::clamp((i - 60) / 20.0, 0.0, 1.0);  // from 1e-1.8 to 1e-0.2
    const double noise = i < 40 && i % 2 == 0 ? 0.1 : 0;
    steps.push_back({.step = i + 1,
                     .rate = std::pow(10, -7 + 0.08 * i),
                     .loss = i == 3 ? 9.0 : 1.5 - fallen,
                     .smoothed = 1.5 - fallen + noise});
  }
  const RateSearch search = judge_rates(steps, false);
  REQUIRE(search.steepest.has_value());
  CHECK(*search.steepest > 5e-3);
  CHECK(*search.steepest < 1);
  const CurvePlot plot = rate_search_plot(search, "run");
  CHECK(plot.panels[0].curves[0].points.size() == 99);  // but the one of 9
  CHECK(plot.panels[0].curves[1].points.size() == 100);
}

TEST_CASE("without a fall there is no suggestion") {
  const RateSearch rising = judge_rates(steps_of({1, 2, 3}), false);
  CHECK_FALSE(rising.suggested.has_value());
  CHECK(rate_search_text(rising, "k")
            .ends_with("the loss never fell: no rate is suggested; try a smaller --from\n"));
  CHECK(rate_search_json(rising, "k")["suggested"].is_null());
  CHECK(rate_search_text(judge_rates({}, true), "k") ==
        "the loss was not finite at the first step\n");
}
