// The update of running statistics.
#include "optim/running_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "blocks.h"
#include "optim/update_launches.h"
#include "read.h"

namespace trainyard {
namespace {

TEST_CASE("a running statistic mixes its old value with the scaled mean over the replicas") {
  // Two chunks with their own rules; the batch block holds the sum over 4 replicas.
  const std::vector<StatisticPolicy> rules{{.momentum = 0.75, .batch_scale = 1},
                                           {.momentum = 0.5, .batch_scale = 1.25}};
  std::vector<double> running, batch;
  for (std::int64_t i = 0; i < 2 * kChunk; ++i) {
    running.push_back(static_cast<double>(i) + 1);
    batch.push_back(std::sin(static_cast<double>(i)) + 2);
  }
  const std::vector<double> before = running;
  StepState state;
  const double replicas = 4;
  const auto update = [&] {
    test::Blocks<double> blocks(1, {{}}, 0);
    make_cpu_update_launches(1)->update(blocks.view(), test::optimizer("sgd")->rule, 0,
                                        {.running = running.data(),
                                         .batch = batch.data(),
                                         .rules = rules.data(),
                                         .state = &state,
                                         .replicas = &replicas,
                                         .chunks = 2});
  };
  update();
  for (std::size_t i = 0; i < running.size(); ++i) {
    const StatisticPolicy& rule = rules[i / kChunk];
    const double keep = rule.momentum, scale = rule.batch_scale;
    const double exact = keep * before[i] + (1 - keep) * scale * batch[i] / 4;
    // Four roundings of values up to 128.
    CHECK(std::abs(running[i] - exact) <= 4 * 128 * 0x1p-53);
  }
  const std::vector<double> good = running;
  state.nonfinite_step = 0;  // even for the first step
  update();
  CHECK(running == good);
}

}  // namespace
}  // namespace trainyard
