// Training by several replicas with synchronised batch norms, against one with the whole batch.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "device/device.h"
#include "ranks/comm/communicator.h"
#include "small_training.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr std::int64_t kWholeBatch = 8;
constexpr std::int64_t kSyncedSteps = 50;

/// Two residual blocks, one of which changes the width; $bn stands for the batch norms' keys. One
/// has channels that do not fill a block, one normalises features.
const char* const kResNet = R"(
input: [3, 8, 7]
defaults: {conv: {bias: false, pad: 1, kernel: 3}, bn: {sync: SYNC, running_var: unbiased}}
layers:
  - conv: {filters: 6}
  - bn
  - relu
  - add: [[conv: {filters: 6}, bn, relu, conv: {filters: 6}, bn: {running_var: keras}], []]
  - relu
  - add:
      - [conv: {filters: 8, stride: 2}, bn, relu, conv: {filters: 8}, bn]
      - [conv: {filters: 8, kernel: 1, stride: 2, pad: 0}, bn]
  - relu
  - global_avg_pool
  - dense: 8
  - bn: {scale: false}
  - relu
  - dense: 4
  - softmax
)";

std::string resnet(bool sync) {
  std::string text = kResNet;
  return text.replace(text.find("SYNC"), 4, sync ? "true" : "false");
}

Target fp64_target(const char* name) {
  if (std::string_view(name) == "reference") return reference_target(Precision::fp64);
  Target cuda = cuda_target(Precision::fp32);
  cuda.storage = DType::f64;
  return cuda;
}

Trained train(const TrainingGraph& graph, const Target& target, const Course& course) {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto executors = make_reference_executors();
  const auto launches = make_cpu_update_launches(1);
  return train_replica(graph, target, {*device, *queue, *executors, *launches}, course);
}

/// Every replica's training on its part of the batches.
std::vector<Trained> train_replicas(const std::string& network, const Target& target, int replicas,
                                    Course course) {
  std::vector<Trained> all(static_cast<std::size_t>(replicas));
  const auto outcomes =
      testing::run_gloo(testing::StoreKind::memory, replicas, [&](Communicator& group) {
        Course own = course;
        own.communicator = &group;
        all[static_cast<std::size_t>(group.rank())] =
            train(training_graph(network, kWholeBatch / replicas), target, own);
      });
  REQUIRE(outcomes == testing::Outcomes(static_cast<std::size_t>(replicas)));
  return all;
}

Trained train_whole(const std::string& network, const Target& target, const Course& course) {
  return train(training_graph(network, kWholeBatch), target, course);
}

/// The mean over replicas, which have equal parts, per step.
std::vector<double> mean_losses(const std::vector<Trained>& replicas) {
  std::vector<double> means(replicas[0].losses.size());
  for (const Trained& replica : replicas) {
    for (std::size_t step = 0; step < means.size(); ++step) {
      means[step] += replica.losses.at(step) / static_cast<double>(replicas.size());
    }
  }
  return means;
}

// In double the differences stay at 2e-15 over these steps; replicas that do not sync are 0.2
// apart.
constexpr double kEqual = 1e-12;

void check_against_whole(const Target& target, int replicas) {
  CAPTURE(target.name);
  CAPTURE(replicas);
  const Course course{.steps = kSyncedSteps, .rate = 0.01};
  const Trained whole = train_whole(resnet(true), target, course);
  const std::vector<Trained> parts = train_replicas(resnet(true), target, replicas, course);
  CHECK(whole.losses.size() == kSyncedSteps);
  CHECK(largest_difference(mean_losses(parts), whole.losses) < kEqual);
  for (const Trained& part : parts) {
    CHECK(largest_difference(part.weights, whole.weights) < kEqual);
    CHECK(largest_difference(part.running, whole.running) < kEqual);
    CHECK(part.weights == parts[0].weights);
    CHECK(part.running == parts[0].running);
  }
}

}  // namespace

TEST_CASE("replicas with synchronised batch norms train like one with the whole batch") {
  for (const int replicas : {2, 4}) check_against_whole(fp64_target("reference"), replicas);
  check_against_whole(fp64_target("cuda"), 2);
}

TEST_CASE("replicas without synchronisation, and other weights, train differently") {
  const Target target = fp64_target("reference");
  const Course course{.steps = kSyncedSteps, .rate = 0.01};
  const Trained whole = train_whole(resnet(true), target, course);
  const std::vector<Trained> apart = train_replicas(resnet(false), target, 2, course);
  CHECK(largest_difference(mean_losses(apart), whole.losses) > 1e-3);
  CHECK(largest_difference(apart[0].running, whole.running) > 1e-3);
  const Trained other =
      train_whole(resnet(true), target, {.steps = kSyncedSteps, .rate = 0.01, .seed = 6});
  CHECK(largest_difference(other.losses, whole.losses) > 1e-3);
}

TEST_CASE("training of one replica is bit-identical with and without sync") {
  const Target target = fp64_target("reference");
  const Course course{.steps = 5};
  const Trained with = train_whole(resnet(true), target, course);
  const Trained without = train_whole(resnet(false), target, course);
  CHECK(with.losses == without.losses);
  CHECK(with.weights == without.weights);
  CHECK(with.running == without.running);
}

TEST_CASE("the unbiased running variance counts the samples of all replicas, with sync only") {
  const auto scales = [](bool sync, int replicas, std::int64_t batch) {
    std::vector<double> found;
    const TrainingGraph graph = with_replicas(training_graph(resnet(sync), batch), replicas);
    for (const Node& node : graph.graph.nodes) {
      for (const StatisticSpec& statistic : node.signature.statistics) {
        found.push_back(statistic.batch_scale);
      }
    }
    return found;
  };
  CHECK(scales(true, 4, 2) == scales(true, 1, 8));
  CHECK(scales(true, 4, 2) != scales(true, 1, 2));
  CHECK(scales(false, 4, 2) == scales(false, 1, 2));
}

TEST_CASE("a joint sum is over the communicator's ranks; one rank has none") {
  const auto queue = make_cpu_device()->make_queue();
  const auto single = make_single_communicator();
  CHECK(make_statistics_sum(*single, *queue) == nullptr);
  std::vector<std::vector<double>> values{{1, 10}, {2, 20}, {4, 40}};
  const auto outcomes = testing::run_gloo(testing::StoreKind::memory, 3, [&](Communicator& group) {
    const auto host = make_cpu_device()->make_queue();
    const auto sum = make_statistics_sum(group, *host);
    if (sum->replicas() != 3) throw std::logic_error("replicas");
    sum->sum(values[static_cast<std::size_t>(group.rank())].data(), 2);
  });
  CHECK(outcomes == testing::Outcomes(3));
  CHECK(values == std::vector<std::vector<double>>(3, {7, 70}));
}
