// A training step that is captured on a stand-in GPU has the nodes that the GPU that counts
// predicts, in the same order, each with the same functor.
#include <doctest/doctest.h>

#include "captured_nodes.h"
#include "counted/counted_gpu.h"
#include "data/sets/synthetic.h"
#include "data/text/synthetic_sequences.h"
#include "every_op.h"
#include "one_gpu.h"
#include "training_networks.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

class CountedRank final : public RankDevice {
 public:
  explicit CountedRank(std::vector<std::string>& nodes) : nodes_(nodes) {}
  ~CountedRank() override { nodes_ = names_of(gpu_.recorded()); }
  CountedRank(const CountedRank&) = delete;
  CountedRank& operator=(const CountedRank&) = delete;
  [[nodiscard]] Compute compute() override { return gpu_.compute(); }
  [[nodiscard]] Communicator& ranks() override { return *ranks_; }

 private:
  std::vector<std::string>& nodes_;
  counted::Gpu gpu_;
  std::unique_ptr<Communicator> ranks_ = make_single_communicator();
};

std::unique_ptr<Dataset> image_set() {
  SyntheticOptions options;
  options.shape = {3, 9, 7};
  options.classes = 4;
  options.size = 64;
  return open_synthetic(options, 3);
}

/// Two steps: the second one is captured.
void check_nodes(RankTraining training) {
  const auto images = image_set();
  if (training.set == nullptr) training.set = images.get();
  training.updates = 2;
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    CAPTURE(training.network);
    CAPTURE(name_of(precision));
    training.target = cuda_target(precision);
    training.device = [](const ExecutorFactory&, Communicator&) {
      return std::make_unique<OneGpu>();
    };
    static_cast<void>(train_on_ranks(1, training));
    std::vector<std::string> predicted;
    training.device = [&predicted](const ExecutorFactory&, Communicator&) {
      return std::make_unique<CountedRank>(predicted);
    };
    static_cast<void>(train_on_ranks(1, training));
    CHECK(predicted.size() > 20);
    CHECK(nodes_captured() == predicted);
  }
}

}  // namespace

TEST_CASE("the nodes of a step are predicted, of each op and each precision") {
  for (const char* const network : {kSmallNetwork, kWideNetwork, kBranchedNetwork, kEveryOp}) {
    check_nodes({.network = network});
  }
}

TEST_CASE("so are those of sequences, with and without padding") {
  SyntheticSequencesOptions options;
  options.steps = 7;
  options.vocabulary = 11;
  options.labels = SequenceLabels::every;
  const auto set = open_synthetic_sequences(options, 3);
  check_nodes({.network = kEverySequenceOp, .set = set.get()});
  check_nodes({.network = kMaskedSequence,
               .set = set.get(),
               .weights = ClassWeightPolicy{.mask = kTokensField}});
}

TEST_CASE("so are those of micro-batches, shards, an average and a loss scale") {
  check_nodes({.network = kWideNetwork, .options = {.clip_norm = 1, .accumulate = 3}});
  check_nodes({.network = kWideNetwork, .options = {.shards = 4}});
  check_nodes({.network = kWideNetwork,
               .options = {.loss_scale = {.start = LossScale::kMost, .dynamic = true}},
               .average = AverageOptions{.rule = {.decay = 0.9, .warmup = true}}});
}
