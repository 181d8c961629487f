// Training on a stand-in GPU, by kernels, cuDNN and cuBLASLt, eager and captured, is bit-identical
// to the CPU executing the same plan in the GPU's arithmetic.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "data/text/synthetic_sequences.h"
#include "every_op.h"
#include "gpu_arithmetic.h"
#include "labelled_set.h"
#include "one_gpu.h"
#include "rank_training.h"
#include "ranks/comm/communicator.h"
#include "runtime/control.h"
#include "training_networks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr Precision kPrecisions[] = {Precision::fp32, Precision::tf32, Precision::bf16,
                                     Precision::fp16};

class GpuArithmeticOnProcessor final : public RankDevice {
 public:
  GpuArithmeticOnProcessor() : own_ranks_(make_single_communicator()), ranks_(*own_ranks_) {}
  explicit GpuArithmeticOnProcessor(Communicator& ranks) : ranks_(ranks) {}
  [[nodiscard]] Compute compute() override { return {*device_, *queue_, *executors_, *launches_}; }
  [[nodiscard]] Communicator& ranks() override { return ranks_; }

 private:
  std::unique_ptr<Device> device_ = make_cpu_device();
  std::unique_ptr<Queue> queue_ = device_->make_queue();
  std::unique_ptr<ExecutorFactory> executors_ = standin_tests::make_gpu_arithmetic();
  std::unique_ptr<UpdateLaunches> launches_ = make_cpu_update_launches(1);
  std::unique_ptr<Communicator> own_ranks_;
  Communicator& ranks_;
};

template <class Device>
TrainedRank train_on(RankTraining training) {
  training.device = [](const ExecutorFactory&, Communicator&) {
    return std::make_unique<Device>();
  };
  return train_on_ranks(1, training)[0];
}

/// Six steps, the first eager and the others captured; then an evaluation.
void check_bytes(const RankTraining& training) {
  CAPTURE(training.network);
  const TrainedRank gpu = train_on<OneGpu>(training);
  CHECK(differences(gpu, train_on<GpuArithmeticOnProcessor>(training)) == "");
}

}  // namespace

TEST_CASE("training on a GPU is bit-identical to its plan on the CPU, in each precision") {
  for (const char* const network : {kSmallNetwork, kWideNetwork, kEveryOp}) {
    for (const Precision precision : kPrecisions) {
      // Recurrent layers of the reference device round no factor to TF32.
      if (network == kEveryOp && precision == Precision::tf32) continue;
      CAPTURE(network);
      CAPTURE(name_of(precision));
      check_bytes(
          {.network = network, .target = cuda_target(precision), .updates = 6, .options = {}});
    }
  }
}

TEST_CASE("kernels may begin early, and with 'overlap: false' none does: the bytes are the same") {
  for (const Precision precision : kPrecisions) {
    CAPTURE(name_of(precision));
    const RankTraining training{
        .network = kWideNetwork, .target = cuda_target(precision), .updates = 6, .options = {}};
    const TrainedRank overlapping = train_on<OneGpu>(training);
    const standin::RecordedEdges edges = standin::last_recorded_edges();
    CHECK(edges.programmatic > edges.full);
    CHECK(differences(overlapping, train_on<OneGpuInTurn>(training)) == "");
    const standin::RecordedEdges in_turn = standin::last_recorded_edges();
    CHECK(in_turn.programmatic == 0);
    CHECK(in_turn.full == edges.programmatic + edges.full);
  }
}

TEST_CASE("launches of a step that are merged have the bits of single ones") {
  const auto check = [](RankTraining training) {
    training.options = {};
    CAPTURE(training.optimizer);
    const TrainedRank merged = train_on<OneGpu>(training);
    const standin::RecordedEdges few = standin::last_recorded_edges();
    training.target.can.set(Can::merge_launches, false);
    CHECK(differences(merged, train_on<OneGpu>(training)) == "");
    const standin::RecordedEdges all = standin::last_recorded_edges();
    CHECK(few.programmatic + few.full < all.programmatic + all.full);
  };
  for (const Precision precision : kPrecisions) {
    CAPTURE(name_of(precision));
    check({.network = kWideNetwork, .target = cuda_target(precision), .updates = 4});
  }
  // Its rule has a number that changes by a launch of its own.
  check({.target = cuda_target(Precision::bf16),
         .updates = 4,
         .optimizer = "nadam",
         .optimizer_keys = "{lr: 0.01}"});
}

TEST_CASE("so is training on sequences, with and without padding") {
  SyntheticSequencesOptions options;
  options.steps = 7;
  options.vocabulary = 11;
  options.labels = SequenceLabels::every;
  const auto set = open_synthetic_sequences(options, 3);
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    CAPTURE(name_of(precision));
    RankTraining training{.network = kEverySequenceOp,
                          .target = cuda_target(precision),
                          .updates = 6,
                          .set = set.get()};
    check_bytes(training);
    training.network = kMaskedSequence;
    training.weights = ClassWeightPolicy{.mask = kTokensField};
    check_bytes(training);
  }
}

TEST_CASE("so is training by engines with a workspace that stores nothing else") {
  standin::request_failures("cudnnFirstEngine=1");
  for (const char* const network : {kSmallNetwork, kWideNetwork}) {
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      CAPTURE(network);
      CAPTURE(name_of(precision));
      check_bytes({.network = network, .target = cuda_target(precision), .updates = 3});
    }
  }
  standin::request_failures("");
}

TEST_CASE("so is training in several micro-batches per step, and in shards") {
  RankTraining training{
      .network = kWideNetwork, .target = cuda_target(Precision::bf16), .updates = 4};
  training.options.accumulate = 3;
  check_bytes(training);
  training.options = {.shards = 4};
  check_bytes(training);
}

TEST_CASE("so is training with steps and micro-batches of which no sample counts") {
  std::vector<LabelledSet::Sample> samples;
  for (std::int64_t i = 0; i < 48; ++i) {
    samples.push_back({i, i / 2 % 3 == 1 ? 3 : static_cast<std::int32_t>(i % 3)});
  }
  const LabelledSet set(samples);
  for (const std::int64_t accumulate : {1, 2}) {
    CAPTURE(accumulate);
    RankTraining training{.target = cuda_target(Precision::bf16),
                          .batch = 2,
                          .updates = 9,
                          .set = &set,
                          .average = AverageOptions{.rule = {.decay = 0.9}},
                          .weights = ClassWeightPolicy{.ignored = 3}};
    training.options.accumulate = accumulate;
    check_bytes(training);
    const TrainedRank gpu = train_on<OneGpu>(training);
    CHECK(std::ranges::count(gpu.updates, true, &StepResult::skipped) == (accumulate == 1 ? 3 : 0));
  }
}

TEST_CASE("so is an average of the weights, in the captured step") {
  RankTraining training{
      .network = kWideNetwork, .target = cuda_target(Precision::fp16), .updates = 5};
  training.options.loss_scale = {.start = LossScale::kMost, .dynamic = true, .growth = 2};
  training.average = AverageOptions{.rule = {.decay = 0.9, .warmup = true}};
  check_bytes(training);
}

TEST_CASE("so is training of layers that share weights, and of a frozen one") {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    CAPTURE(name_of(precision));
    check_bytes(
        {.network = kSharedLayers, .target = cuda_target(precision), .updates = 4, .options = {}});
    check_bytes({.network = kWideNetwork,
                 .target = cuda_target(precision),
                 .updates = 4,
                 .options = {},
                 .frozen = "conv2"});
  }
}

TEST_CASE("so is training by launches of several batch norms, which have the bits of single ones") {
  for (const Precision precision : kPrecisions) {
    CAPTURE(name_of(precision));
    RankTraining training{
        .network = kBranchedNetwork, .target = cuda_target(precision), .updates = 4};
    check_bytes(training);
    const TrainedRank together = train_on<OneGpu>(training);
    training.target.can.set(Can::join_siblings, false);
    CHECK(differences(together, train_on<OneGpu>(training)) == "");
  }
  RankTraining training{
      .network = kBranchedNetwork, .target = cuda_target(Precision::bf16), .updates = 3};
  training.options.accumulate = 2;
  check_bytes(training);
  training.options = {.shards = 2};
  check_bytes(training);
}

TEST_CASE("batch norms whose statistics are of all ranks have siblings too") {
  std::string network = kBranchedNetwork;
  for (std::size_t at = 0; (at = network.find("bn,", at)) != std::string::npos; at += 3) {
    network.replace(at, 3, "bn: {sync: true},");
  }
  RankTraining training{.network = network, .target = cuda_target(Precision::bf16), .updates = 3};
  training.device = [](const ExecutorFactory&, Communicator& ranks) {
    return std::make_unique<GpuArithmeticOnProcessor>(ranks);
  };
  const std::vector<TrainedRank> together = train_on_ranks(2, training);
  training.target.can.set(Can::join_siblings, false);
  const std::vector<TrainedRank> apart = train_on_ranks(2, training);
  for (const std::size_t rank : {0, 1}) CHECK(differences(together[rank], apart[rank]) == "");
}

TEST_CASE("an optimizer step that is one bit off is detected") {
  RankTraining training{.target = cuda_target(Precision::fp32), .updates = 2};
  const TrainedRank gpu = train_on<OneGpu>(training);
  training.options.clip_norm = 0.5000001;
  CHECK(differences(gpu, train_on<GpuArithmeticOnProcessor>(training)) != "");
}
