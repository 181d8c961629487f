// Training that recomputes outputs for the backward pass, against training that keeps them: the
// same bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "plan_rules.h"
#include "rank_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Batch norms with and without a ReLU, one that reads another's output, a residual, a
/// concatenation, one that a pooling reads too, and features.
constexpr const char* kNorms = R"(
input: [3, 9, 7]
defaults: {conv: {pad: same_upper}}
layers:
  - conv: {filters: 16, kernel: 3}
  - bn
  - relu
  - add: [[conv: {filters: 16, kernel: 3}, bn, relu, conv: {filters: 16, kernel: 1}, bn], []]
  - relu
  - concat: [[conv: {filters: 16, kernel: 1}, bn, relu], [conv: {filters: 32, kernel: 3}, bn, relu]]
  - concat: [[max_pool: 2], [conv: {filters: 16, kernel: 3, stride: 2, pad: 0}, bn, relu]]
  - global_avg_pool
  - dense: 8
  - bn
  - bn
  - dense: 4
  - softmax
)";

/// Ten steps on `ranks` ranks with and without recomputation.
void check_bits(RankTraining training, int ranks, std::ptrdiff_t recomputed) {
  training.updates = 10;
  training.target.can.set(Can::recompute);
  const TrainingGraph graph = training_graph(training.network, training.batch);
  Target planned = training.target;
  planned.workspace_cap = 1 << 10;
  const ModelPlans plans = make_plans_without_device(graph, planned);
  CHECK(std::ranges::count(plans.train->steps, Pass::recompute, &PlanStep::pass) == recomputed);
  for (const std::string& fault : faults_of(*plans.train)) FAIL_CHECK(fault);
  const auto again = train_on_ranks(ranks, training);
  training.target.can.set(Can::recompute, false);
  const auto kept = train_on_ranks(ranks, training);
  for (std::size_t rank = 0; rank < kept.size(); ++rank) {
    CAPTURE(rank);
    CHECK(differences(again[rank], kept[rank]) == "");
  }
}

}  // namespace

TEST_CASE("recomputing outputs changes no bit on any plan") {
  for (const Target& target :
       {reference_target(Precision::fp64), in_double(cpu_target(true)),
        in_double(cuda_target(Precision::fp16)), reference_target(Precision::bf16)}) {
    CAPTURE(target.name);
    check_bits({.network = kNorms, .target = target}, 1, 6);
  }
}

TEST_CASE("nor on the processor") {
  check_bits({.network = kNorms, .target = cpu_target(processor_has_avx512()), .onednn = true}, 1,
             6);
}

TEST_CASE("nor with micro-batches, shards and ranks") {
  RankTraining training{.network = kNorms, .target = reference_target(Precision::fp64)};
  training.options.accumulate = 2;
  training.options.shards = 4;
  check_bits(training, 2, 6);
}

TEST_CASE("nor with statistics of all ranks, which are summed once") {
  std::string network = kNorms;
  const std::string defaults = "defaults: {";
  network.insert(network.find(defaults) + defaults.size(), "bn: {sync: true}, ");
  check_bits({.network = network, .target = reference_target(Precision::fp64)}, 2, 6);
}
