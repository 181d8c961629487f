// A rank whose values are no longer finite, among ranks with synchronised batch norms.
#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "rank_sessions.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kDivergingRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  defaults: {bn: {sync: true}}
  layers: [conv: {filters: 4, kernel: 3}, bn, relu, conv: {filters: 4, kernel: 3}, bn, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 144}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
  workers: 0
batch: {per_gpu: 4}
lr_scaling: none
accumulate: 2
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
)";

/// The second convolution of rank 2 of 3 gets a NaN weight before the third step.
testing::Outcomes outcomes(bool eager) {
  return run_stretch({.yaml = kDivergingRun,
                      .ranks = 3,
                      .options = {.eager = eager},
                      .before_update =
                          [](Session& session, RankGroup& group, const TrainingState& state) {
                            if (group.rank() != 2 || state.step != 2) return;
                            Model& model = session.model();
                            const float bad = std::numeric_limits<float>::quiet_NaN();
                            for (const BlockEntry& entry : model.blocks().parameters) {
                              if (entry.name != "conv2.weight") continue;
                              std::byte* const weight =
                                  model.memory().weights() + entry.offset * sizeof bad;
                              model.compute().queue.copy_from_host(weight, &bad, sizeof bad);
                            }
                          }})
      .outcomes;
}

}  // namespace

TEST_CASE("every rank names the layer where the first of them became non-finite") {
  for (const bool eager : {false, true}) {
    CAPTURE(eager);
    for (const std::string& outcome : outcomes(eager)) {
      CAPTURE(outcome);
      CHECK(outcome.find("training diverged at step 3 (epoch 1): layer 'conv2': its output is not "
                         "finite") != std::string::npos);
    }
  }
}
