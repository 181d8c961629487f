// The update of running statistics.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "launcher/launch.h"
#include "optim/running_statistics.h"

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
  const UpdateRunning<double> update{running.data(), batch.data(), rules.data(), &state, &replicas};
  CpuLauncher(1).rows(2, update);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const StatisticPolicy& rule = rules[i / kChunk];
    const double keep = rule.momentum, scale = rule.batch_scale;
    const double exact = keep * before[i] + (1 - keep) * scale * batch[i] / 4;
    // Four roundings of values up to 128.
    CHECK(std::abs(running[i] - exact) <= 4 * 128 * 0x1p-53);
  }
  const std::vector<double> good = running;
  state.nonfinite_step = 0;  // even for the first step
  CpuLauncher(1).rows(2, update);
  CHECK(running == good);
}

}  // namespace
}  // namespace trainyard
