// All-reduces that overlap the backward pass: on queues that are as late as events allow, they are
// bit-identical to all-reduces after it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "forwarding_ranks.h"
#include "no_tree_ranks.h"
#include "plan/blocks.h"
#include "rank_training.h"
#include "simulated_gpu.h"
#include "small_training.h"
#include "thread_ranks.h"
#include "train/rank_sum.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Order = SimulatedGpu::Order;

/// Buckets of a parameter or two, so that even small networks have several.
constexpr BucketBytes kSmallBuckets{.single = 0, .full = 256, .last = 64};

/// A parameter that three layers write one after another, and one that bn writes together with its
/// input's gradient.
const char* const kShared = R"(
input: [3, 9, 7]
layers:
  - conv: {filters: 4, kernel: 3, pad: 1}
  - {conv: {filters: 4, kernel: 3, pad: 1}, as: second}
  - tanh
  - repeat: {times: 2, layers: [{conv: {filters: 4, kernel: 3, pad: 1}, share: second}, tanh]}
  - bn
  - relu
  - dense: 4
  - softmax
)";

RankTraining training_on(MakeRankDevice device, const char* network = kSmallNetwork) {
  return {.network = network,
          .target = reference_target(Precision::fp32),
          .updates = 6,
          .options = {.clip_norm = 0.5, .buckets = kSmallBuckets},
          .device = std::move(device)};
}

MakeRankDevice late(Order order) {
  return [order](const ExecutorFactory& executors, Communicator& ranks) {
    return std::make_unique<SimulatedGpu>(executors, order, &ranks);
  };
}

/// Late queues over ranks without an order of their own.
class LateNoTree final : public RankDevice {
 public:
  LateNoTree(const ExecutorFactory& executors, Communicator& ranks)
      : no_tree_(ranks), late_(executors, Order::sums_ahead, &no_tree_) {}
  [[nodiscard]] Compute compute() override { return late_.compute(); }
  [[nodiscard]] Communicator& ranks() override { return late_.ranks(); }

 private:
  NoTreeRanks no_tree_;
  SimulatedGpu late_;
};

/// Records what each call sums: "100 f32, 3 f64".
class NotedRanks final : public testing::ForwardingRanks {
 public:
  using ForwardingRanks::ForwardingRanks;
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    std::string call;
    for (const SumPart& part : parts) {
      call += (call.empty() ? "" : ", ") + std::to_string(part.count) + " " +
              std::string(name_of(part.type));
    }
    calls.push_back(call);
    inner().all_reduce_sums(queue, parts);
  }

  std::vector<std::string> calls;
};

/// The calls of one step whose gradients are sent in `transport`, in buckets of this many elements,
/// and which sums this many other doubles with the results.
std::vector<std::string> calls_of(DType transport, const std::vector<GradientBucket>& buckets,
                                  std::int64_t more = 0) {
  std::vector<std::string> calls;
  const auto outcomes = testing::run_gloo(testing::StoreKind::memory, 2, [&](Communicator& group) {
    NotedRanks noted(group);
    const auto device = make_cpu_device();
    const auto queue = device->make_queue(), sums = device->make_queue();
    const auto executors = make_reference_executors();
    const auto launches = make_cpu_update_launches(1);
    std::vector<float> gradients(28, 1.0F);
    std::vector<double> results(3, 1.0);
    RankSum sum({*device, *queue, *executors, *launches, nullptr, sums.get()}, noted,
                {.gradients = gradients.data(),
                 .parameters = 25,
                 .statistics = 3,
                 .results = results.data(),
                 .result_count = 3},
                {.transport = transport, .buckets = buckets});
    std::vector<double> others(static_cast<std::size_t>(more), 1.0);
    sum.sum_with_results({others.data(), more, DType::f64});
    for (std::size_t i = 0; i < sum.overlapped().size(); ++i) sum.begin_next();
    sum.finish();
    if (std::ranges::count(others, 2.0) != more)
      throw Error(ErrorKind::bug, "no sum of the others");
    if (gradients != std::vector<float>(28, 2.0F) || results != std::vector<double>(3, 2.0)) {
      throw Error(ErrorKind::bug, "another sum");
    }
    if (group.rank() == 0) calls = noted.calls;
  });
  CHECK(outcomes == testing::Outcomes(2));
  return calls;
}

/// Late queues, whichever is ahead, against the CPU, where all-reduces follow the backward pass.
void require_same_bits(RankTraining training, int ranks) {
  training.device = make_processor;
  const std::vector<TrainedRank> after = train_on_ranks(ranks, training);
  for (const Order order : {Order::model_ahead, Order::sums_ahead}) {
    CAPTURE(static_cast<int>(order));
    training.device = late(order);
    const std::vector<TrainedRank> overlapped = train_on_ranks(ranks, training);
    for (const TrainedRank& rank : overlapped) CHECK(differences(rank, after[0]) == "");
  }
}

}  // namespace

TEST_CASE("all-reduces that overlap the backward pass are bit-identical to all-reduces after it") {
  for (const int ranks : {2, 3}) require_same_bits(training_on({}), ranks);
}

TEST_CASE("overlapping all-reduces of shared and frozen parameters are bit-identical") {
  require_same_bits(training_on({}, kShared), 2);
  RankTraining frozen = training_on({}, kShared);
  frozen.frozen = "conv1";
  require_same_bits(frozen, 2);
}

TEST_CASE("overlapping 16-bit all-reduces with a loss scale that overflows are bit-identical") {
  for (const DType transport : {DType::bf16, DType::f16}) {
    RankTraining training = training_on({});
    training.options.transport = transport;
    training.options.loss_scale = {.start = LossScale::kMost, .dynamic = true, .growth = 3};
    require_same_bits(training, 2);
  }
}

TEST_CASE("the results are sent with the last gradient bucket, in one call") {
  const std::vector<GradientBucket> three{{.first = 0, .count = 10, .steps = 1},
                                          {.first = 10, .count = 9, .steps = 2},
                                          {.first = 19, .count = 9, .steps = 3}};
  using Calls = std::vector<std::string>;
  CHECK(calls_of(DType::f32, three) == Calls{"10 f32", "9 f32", "9 f32, 3 f64"});
  CHECK(calls_of(DType::bf16, three) == Calls{"10 bf16", "9 bf16", "6 bf16, 3 f32, 3 f64"});
  CHECK(calls_of(DType::f32, {{.first = 0, .count = 28, .steps = 3}}) == Calls{"28 f32, 3 f64"});
  // So is what else is summed with them.
  CHECK(calls_of(DType::f32, three, 1) == Calls{"10 f32", "9 f32", "9 f32, 3 f64, 1 f64"});
  CHECK(calls_of(DType::bf16, {}, 2) == Calls{"25 bf16, 3 f32, 3 f64, 2 f64"});
}

TEST_CASE("all-reduces of several micro-batches and of shards follow the backward pass") {
  RankTraining training = training_on({});
  training.options.accumulate = 2;
  require_same_bits(training, 2);
  training.options.accumulate = 1;
  training.options.shards = 4;
  require_same_bits(training, 2);
}

TEST_CASE("shards are bit-identical on any number of ranks whose all-reduces have no order") {
  RankTraining training = training_on(make_processor);
  for (const std::int64_t accumulate : {1, 2}) {
    CAPTURE(accumulate);
    training.options.accumulate = accumulate;
    training.options.shards = 8;
    training.device = make_processor;
    const TrainedRank alone = train_on_ranks(1, training)[0];
    training.device = [](const ExecutorFactory& executors, Communicator& ranks) {
      return std::make_unique<LateNoTree>(executors, ranks);
    };
    for (const int ranks : {2, 4, 8}) {
      for (const TrainedRank& rank : train_on_ranks(ranks, training)) {
        CHECK(differences(rank, alone) == "");
      }
    }
  }
}

TEST_CASE("a step overlaps all-reduces with the backward pass if allowed, and one rank has none") {
  const auto executors = make_reference_executors();
  const auto sgd = make_optimizer("sgd", "{lr: 0.1}");
  const auto buckets = [&](Communicator& ranks, const char* network, StepOptions options) {
    SimulatedGpu late(*executors, Order::model_ahead, &ranks);
    Model model(
        training_graph(network, 2), late.compute(),
        {.target = reference_target(Precision::fp32), .accumulates = options.accumulate > 1});
    options.buckets = kSmallBuckets;
    return TrainStep(model, late.ranks(), *sgd, nullptr, {.base = 0.1}, options)
        .reducer()
        .overlapped()
        .size();
  };
  const auto single = make_single_communicator();
  CHECK(buckets(*single, kSmallNetwork, {}) == 0);
  const auto outcomes = testing::run_gloo(testing::StoreKind::memory, 2, [&](Communicator& ranks) {
    const auto expect = [](bool holds) {
      if (!holds) throw std::logic_error("another number of buckets");
    };
    expect(buckets(ranks, kSmallNetwork, {}) > 1);
    expect(buckets(ranks, kSmallNetwork, {.accumulate = 2}) == 0);
    expect(buckets(ranks, kSmallNetwork, {.shards = 2}) == 0);
    expect(buckets(ranks, "{input: [3, 9, 7], layers: [bn: {sync: true}, dense: 4, softmax]}",
                   {}) == 0);
  });
  CHECK(outcomes == testing::Outcomes(2));
}

TEST_CASE("the content of a bucket after its own steps is final") {
  const auto executors = make_reference_executors();
  for (const char* network : {kSmallNetwork, kShared}) {
    for (const Target& target : {reference_target(Precision::fp32), cuda_target(Precision::bf16)}) {
      const auto device = make_cpu_device();
      const auto queue = device->make_queue();
      const auto launches = make_cpu_update_launches(1);
      Model model(training_graph(network, 2), {*device, *queue, *executors, *launches},
                  {.target = target});
      model.initialize(3);
      Program& program = model.train();
      const auto* const block = reinterpret_cast<const float*>(model.memory().gradients());
      const std::int64_t elements = model.blocks().gradient_elements();
      // What nothing writes, as the padding of parameters, stays.
      std::fill_n(reinterpret_cast<float*>(model.memory().gradients()), elements, -1.0F);
      std::vector<float> then;
      std::size_t done = 0;
      const auto buckets =
          cut_gradient_buckets(program.plan(), model.blocks(), sizeof(float), kSmallBuckets);
      CHECK(buckets.size() > 2);
      std::vector<float> images(2 * 3 * 9 * 7);
      for (std::size_t i = 0; i < images.size(); ++i)
        images[i] = std::sin(static_cast<float>(i * i));
      const std::vector<std::int32_t> labels{1, 3};
      const std::vector<std::int64_t> index{0, 1};
      model.load({.images = images,
                  .fields = {std::as_bytes(std::span(labels))},
                  .sample_index = index,
                  .valid = 2});
      model.take_batch(EvaluatedSplit::training);
      for (const GradientBucket& bucket : buckets) {
        program.run(done, bucket.steps);
        done = bucket.steps;
        then.insert(then.end(), block + bucket.first, block + bucket.first + bucket.count);
      }
      CHECK(std::memcmp(then.data(), block, then.size() * sizeof(float)) == 0);
      CHECK(static_cast<std::int64_t>(then.size()) == elements);
      const std::vector<bool> written = written_entries(program.plan(), model.blocks());
      for (std::size_t at = 0; at < written.size(); ++at) {
        const BlockEntry& entry = model.blocks().parameters[at];
        const float* const first = block + entry.offset;
        CHECK(written[at] == std::any_of(first, first + entry.shape.elements(),
                                         [](float gradient) { return gradient != -1.0F; }));
      }
    }
  }
}
