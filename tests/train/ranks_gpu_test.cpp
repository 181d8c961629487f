// Ranks that train on a GPU: NCCL all-reduces within the captured step, and replicas that share the
// GPU.
#include <doctest/doctest.h>

#include <cmath>
#include <span>

#include "backend/cuda/launches.h"
#include "base/clock.h"
#include "gpu.h"
#include "gpu_under_test.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"
#include "ranks/comm/nccl_ranks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A GPU as a rank's device.
class GpuRank final : public RankDevice {
 public:
  using MakeRanks = std::function<std::unique_ptr<Communicator>(Device&)>;
  explicit GpuRank(const MakeRanks& make) : ranks_(make(*gpu_.device)) {}
  [[nodiscard]] Compute compute() override {
    return {*gpu_.device, *gpu_.queue, *gpu_.executors, *launches_, copies_.get(), sums_.get()};
  }
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  GpuUnderTest gpu_;
  std::unique_ptr<Queue> copies_ = gpu_.device->make_queue();
  std::unique_ptr<Queue> sums_ = gpu_.device->make_queue();
  std::unique_ptr<UpdateLaunches> launches_ =
      cuda::make_update_launches(cuda::stream_of(*gpu_.queue));
  std::unique_ptr<Communicator> ranks_;
};

/// A group of one that claims to be rank 0 of two, so that its all-reduces are made.
class HalfOfTwo final : public ForwardingCommunicator {
 public:
  explicit HalfOfTwo(std::unique_ptr<Communicator> one)
      : ForwardingCommunicator(*one), one_(std::move(one)) {}
  [[nodiscard]] int size() const override { return 2; }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    sums += static_cast<int>(parts.size());
    inner().all_reduce_sums(queue, parts);
  }

  static inline int sums = 0;

 private:
  std::unique_ptr<Communicator> one_;
};

RankTraining training_on_gpu(const GpuRank::MakeRanks& make) {
  return {
      .target = cuda_target(Precision::fp32),
      .options = {.clip_norm = 0.5, .buckets = BucketBytes{.single = 0, .full = 256, .last = 64}},
      .device = [make](const ExecutorFactory&, Communicator&) {
        return std::make_unique<GpuRank>(make);
      }};
}

TrainedRank train_half(const GpuRank::MakeRanks& make) {
  return train_on_ranks(1, training_on_gpu([&](Device& device) {
                          return std::make_unique<HalfOfTwo>(make(device));
                        }))[0];
}

}  // namespace

TEST_CASE("NCCL all-reduces of one rank within the captured step change no bit" *
          doctest::skip(no_gpu())) {
  const SystemClock clock;
  const TrainedRank without = train_half([](Device&) { return make_single_communicator(); });
  HalfOfTwo::sums = 0;
  const TrainedRank with = train_half([&](Device& device) {
    return make_nccl_ranks({.library = TY_NCCL_LIBRARY,
                            .device = &device,
                            .clock = &clock,
                            .share = [](std::span<std::byte>) {}});
  });
  CHECK(differences(with, without) == "");
  // Once directly and once recorded for each of the four places of a batch: several buckets and the
  // results.
  CHECK(HalfOfTwo::sums >= 5 * 4);
  CHECK(HalfOfTwo::sums <= 5 * 10);
}

TEST_CASE("four replicas that share a GPU take the same samples as the CPU, in its order" *
          doctest::skip(no_gpu())) {
  RankTraining training = training_on_gpu({});
  training.device = [](const ExecutorFactory&, Communicator& hosts) {
    return std::make_unique<GpuRank>(
        [&](Device& device) { return make_staged_communicator(device, hosts); });
  };
  training.updates = 8;
  const std::vector<TrainedRank> shared = train_on_ranks(4, training);
  for (const TrainedRank& rank : shared) CHECK(differences(rank, shared[0]) == "");
  training.device = make_processor;
  training.target = reference_target(Precision::fp32);
  const TrainedRank cpu = train_on_ranks(4, training)[0];
  training.seed = 12;
  const TrainedRank other = train_on_ranks(4, training)[0];
  const auto mean_loss = [](const TrainedRank& rank, std::size_t update) {
    const Totals& totals = rank.updates.at(update).totals;
    return totals.loss / static_cast<double>(totals.samples);
  };
  // The first loss is of the same weights and samples: products of 27 and 108 terms in float,
  // summed in another order, differ by less than 1e-5 of losses near 1.
  CHECK(std::abs(mean_loss(shared[0], 0) - mean_loss(cpu, 0)) < 1e-4);
  CHECK(std::abs(mean_loss(other, 0) - mean_loss(cpu, 0)) > 1e-3);
  for (std::size_t update = 0; update < 8; ++update) {
    CHECK(std::abs(mean_loss(shared[0], update) - mean_loss(cpu, update)) < 0.05);
  }
}
