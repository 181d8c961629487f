// Ranks that compare their models (`ranks.check_weights`).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "model/model.h"
#include "rank_sessions.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char* kCheckedRun = R"(
name: tiny
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 4, kernel: 3}, bn, relu, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 64}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 16, split: test}
  workers: 0
batch: {per_gpu: 4}
lr_scaling: none
loss: cross_entropy
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
epochs: 1
)";

/// Flips the lowest bit of a byte on the model's device.
void turn_bit(const Model& model, std::byte* where) {
  Queue& queue = model.compute().queue;
  std::byte value{};
  queue.copy_to_host(&value, where, 1);
  queue.wait();
  value ^= std::byte{1};
  queue.copy_from_host(where, &value, 1);
  queue.wait();
}

/// Rank 1 of 2 has a bit of its weights flipped after the third step.
testing::Outcomes outcomes_with_turned_bit(std::int64_t check_weights) {
  return run_stretch({.yaml = kCheckedRun,
                      .ranks = 2,
                      .options = {.check_weights = check_weights},
                      .before_update =
                          [](Session& session, RankGroup& group, const TrainingState& state) {
                            if (group.rank() != 1 || state.step != 3) return;
                            turn_bit(session.model(), session.model().memory().weights());
                          }})
      .outcomes;
}

}  // namespace

TEST_CASE("ranks whose models diverge end at the next check, which names the rank") {
  for (const std::string& outcome : outcomes_with_turned_bit(4)) {
    CHECK(outcome.starts_with("after step 4 rank 1 has a different model than rank 0 (hash "));
  }
  // Without a request nothing is checked.
  for (const std::string& outcome : outcomes_with_turned_bit(0)) CHECK(outcome.empty());
}

TEST_CASE("the check finds nothing if models are equal") {
  const PartialRunEnd end =
      run_stretch({.yaml = kCheckedRun, .ranks = 2, .options = {.check_weights = 1}});
  CHECK(end.outcomes == testing::Outcomes{"", ""});
}

TEST_CASE("a bit of weights, optimizer state, statistics or averages changes a model's hash") {
  RankGroup alone{{}};
  Session session(read_run(kCheckedRun, {"average={ema: 0.9}"}), {.threads = 1}, nullptr, alone);
  Model& model = session.model();
  model.initialize(1);
  std::vector<std::byte> copy;
  const std::string before = model_hash(model, copy);
  const ModelMemory& memory = model.memory();
  for (std::byte* block : {memory.weights(), memory.slot(0), memory.running(),
                           memory.averaged().weights, memory.averaged().running}) {
    turn_bit(model, block);
    CHECK(model_hash(model, copy) != before);
    turn_bit(model, block);
    CHECK(model_hash(model, copy) == before);
  }
}
