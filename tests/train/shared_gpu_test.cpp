// Ranks that share a GPU all-reduce through the host: on a device whose memory is inaccessible to
// the host, and on late queues, bit-identical to ranks on CPUs.
#include <doctest/doctest.h>

#include <mutex>

#include "conformance.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"
#include "simulated_gpu.h"
#include "small_training.h"
#include "thread_ranks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Order = SimulatedGpu::Order;

/// A simulated GPU with ranks that all-reduce through the host.
class Staged final : public RankDevice {
 public:
  Staged(const ExecutorFactory& executors, Communicator& ranks, Order order)
      : own_(executors, order), ranks_(make_staged_communicator(own_.compute().device, ranks)) {}
  [[nodiscard]] Compute compute() override { return own_.compute(); }
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  SimulatedGpu own_;
  std::unique_ptr<Communicator> ranks_;
};

std::unique_ptr<RankDevice> make_at_once(const ExecutorFactory& executors, Communicator& ranks) {
  return std::make_unique<Staged>(executors, ranks, Order::at_once);
}

std::unique_ptr<RankDevice> make_late(const ExecutorFactory& executors, Communicator& ranks) {
  return std::make_unique<Staged>(executors, ranks, Order::sums_ahead);
}

void require_same_bits(RankTraining training, int ranks, const MakeRankDevice& device) {
  training.updates = 8;
  const std::vector<TrainedRank> expected = train_on_ranks(ranks, training);
  CHECK(expected[0].updates.back().finite);
  CHECK(expected[0].updates.back().totals.loss != expected[0].updates.front().totals.loss);
  training.device = device;
  for (const TrainedRank& rank : train_on_ranks(ranks, training)) {
    CHECK(differences(rank, expected[0]) == "");
  }
}

RankTraining training_with(StepOptions options) {
  options.clip_norm = 0.5;
  return {.target = reference_target(Precision::fp32), .options = options};
}

const char* const kSynced = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 6, kernel: 3}
  - bn: {sync: true}
  - relu
  - dense: 4
  - softmax
)";

/// The faults on any rank of such devices.
std::vector<std::string> breaches_on(const MakeRankDevice& make, int ranks) {
  std::mutex mutex;
  std::vector<std::string> all;
  const auto executors = make_reference_executors();
  const auto outcomes =
      testing::run_gloo(testing::StoreKind::memory, ranks, [&](Communicator& hosts) {
        const auto device = make(*executors, hosts);
        const auto breaches = testing::breaches_of(device->ranks(), device->compute().device);
        const std::scoped_lock lock(mutex);
        all.insert(all.end(), breaches.begin(), breaches.end());
      });
  for (const std::string& outcome : outcomes) {
    if (!outcome.empty()) all.push_back(outcome);
  }
  return all;
}

}  // namespace

TEST_CASE("ranks that all-reduce through the host pass the tests of every group") {
  for (const MakeRankDevice& make : {MakeRankDevice(make_at_once), MakeRankDevice(make_late)}) {
    for (const int ranks : {1, 2, 3, 4}) {
      CAPTURE(ranks);
      for (const std::string& breach : breaches_on(make, ranks)) FAIL_CHECK(breach);
    }
  }
}

TEST_CASE("ranks whose all-reduces are enqueued pass the tests of every group") {
  for (const Order order : {Order::model_ahead, Order::sums_ahead}) {
    const MakeRankDevice make = [order](const ExecutorFactory& executors, Communicator& ranks) {
      return std::make_unique<SimulatedGpu>(executors, order, &ranks);
    };
    for (const int ranks : {1, 2, 3, 4}) {
      CAPTURE(ranks);
      for (const std::string& breach : breaches_on(make, ranks)) FAIL_CHECK(breach);
    }
  }
}

TEST_CASE("training of replicas on one GPU is bit-identical to ranks on CPUs") {
  for (const int ranks : {2, 4}) {
    require_same_bits(training_with({}), ranks, make_at_once);
    require_same_bits(training_with({}), ranks, make_late);
  }
}

TEST_CASE("it is with micro-batches, with shards, and with gradients in 16 bits") {
  for (const auto& make : {make_at_once, make_late}) {
    require_same_bits(training_with({.accumulate = 2}), 2, make);
    require_same_bits(training_with({.shards = 4}), 2, make);
    require_same_bits(training_with({.accumulate = 2, .shards = 4}), 2, make);
    require_same_bits(training_with({.transport = DType::bf16}), 3, make);
  }
}

TEST_CASE("it is with synchronised batch norms, in work that is not recorded") {
  RankTraining training = training_with({});
  training.network = kSynced;
  require_same_bits(training, 2, make_at_once);
}

TEST_CASE("all-reduces through the host cannot be recorded, others can") {
  const auto device = make_cpu_device();
  const auto queue = device->make_queue();
  const auto ranks = make_single_communicator();
  CHECK(ranks->recordable());
  const auto staged = make_staged_communicator(*device, *ranks);
  CHECK_FALSE(staged->recordable());
  CHECK(staged->sums_in_tree());
}
