// The key `sampler` of the training split.
#include <doctest/doctest.h>

#include <string>

#include "data/sets/epoch_order.h"
#include "data/sets/memory_dataset.h"
#include "run/session/session.h"
#include "run/session/session_weights.h"
#include "run_text.h"
#include "trained_session.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::string sampled(const std::string& train, const std::string& val = "",
                    const std::string& more = "") {
  const std::string data = "{source: synthetic, shape: [1, 2, 3], classes: 3, size: ";
  return "name: tiny\nnetwork: {input: [1, 2, 3], layers: [dense: 3]}\nbatch: {total: 4}\n"
         "loss: cross_entropy\noptimizer: sgd\nepochs: 2\nthreads: 1\ndata:\n  train: " +
         data + "10" + train + "}\n  val: " + data + "10, split: test" + val + "}\n  workers: 0\n" +
         more;
}

const std::string kBalanced = ", sampler: {balanced: 1}";

MemoryDataset labelled(std::vector<std::int32_t> labels, Shape label = {}) {
  const auto samples = label.rank() == 0 ? labels.size() : labels.size() / 2;
  return MemoryDataset({.image = {1, 1, 1},
                        .floats = std::vector<float>(samples),
                        .labels = std::move(labels),
                        .label = label,
                        .classes = 3});
}

std::string refused_data(const MemoryDataset& set, const std::string& more = "") {
  const RunConfig run = read_run(sampled(kBalanced, "", more));
  return trainyard::test::refusal([&] { static_cast<void>(sampler_of(run, set)); });
}

}  // namespace

TEST_CASE("a sampler that contradicts the run file is refused") {
  const auto refused = [](const std::string& yaml) {
    return trainyard::test::refusal([&] { static_cast<void>(read_run(yaml)); });
  };
  CHECK(refused(sampled(kBalanced)) == "accepted");
  CHECK(refused(sampled(", sampler: off")) == "accepted");
  CHECK(refused(sampled(", sampler: on")) == "accepted");
  CHECK(refused(sampled(", sampler: {repeats: 4}")) == "accepted");
  CHECK(refused(sampled(kBalanced, "", "class_weights: {0: 2}\n")) == "accepted");
  struct Case {
    std::string yaml, message;
  };
  const Case cases[] = {
      {sampled(kBalanced + ", shuffle: false"),
       "'sampler' draws a new order every epoch, but 'shuffle' is false; leave out one of the two"},
      {sampled("", kBalanced),
       "'val' has a 'sampler', but validation takes every sample once; 'sampler' is for 'train'"},
      {sampled(kBalanced, "", "class_weights: balanced\n"),
       "'class_weights: balanced' and the 'sampler' of 'data.train' both make up for rare "
       "classes, which would then count too much; leave out one of the two"},
      {sampled(", sampler: {balanced: 1.5}"), "'balanced'"},
      {sampled(", sampler: {balanced: 1, repeats: 4}"),
       "'repeats' and 'balanced' exclude each other: both say how often a sample comes; remove one "
       "of the two"},
      {sampled(", sampler: {repeats: 0}"), "'repeats'"},
      {sampled(", sampler: balanced"), "{balanced: 1}"},
      {sampled(", sampler: {balance: 1}"), "did you mean 'balanced'?"}};
  for (const Case& one : cases) {
    CAPTURE(one.yaml);
    CHECK(refused(one.yaml).find(one.message) != std::string::npos);
  }
}

TEST_CASE("a sampler of data that have not one class for each sample is refused") {
  const std::string head = "9:19: 'sampler: {balanced: ...}' draws samples by their class, but ";
  CHECK(refused_data(labelled({0, 1, 2, 0})) == "accepted");
  CHECK(refused_data(labelled({0, 1, -1, 0})) ==
        head +
            "sample 2 (from 0) of the training split has label -1, which is not a class; remove "
            "'sampler'");
  CHECK(refused_data(labelled({1, 1, 1})) ==
        head + "all samples of the training split are of class 1; remove 'sampler'");
  CHECK(refused_data(labelled({1, 1, 1}), "ignore_label: 1\n") ==
        head + "'ignore_label' leaves out every sample; remove 'sampler'");
  CHECK(refused_data(labelled({0, 1, 2, 0}, {2})) ==
        head + "each of its samples has 2 labels; remove 'sampler'");
}

TEST_CASE("ignored samples are not drawn, and without the key there is no sampler") {
  const MemoryDataset set = labelled({0, 1, 2, 0, 2, 2});
  const RunConfig run = read_run(sampled(kBalanced, "", "ignore_label: 2\n"));
  const auto sampler = sampler_of(run, set);
  REQUIRE(sampler != nullptr);
  for (const std::int64_t one : sampler->epoch({.seed = 1, .epoch = 0, .size = 6})) {
    CHECK(set.label(index_of_drawn(one)) < 2);
  }
  CHECK(sampler_of(read_run(sampled("")), set) == nullptr);
}

TEST_CASE("a run samples its training split alone, and trains to the same weights each time") {
  RankGroup alone({});
  const auto weights = [&](const std::string& train) {
    Session session(read_run(sampled(train, "", "train_eval: every 1 epoch\n")), {.threads = 1},
                    nullptr, alone);
    CHECK((session.data().train_feeder->options().sampler != nullptr) == !train.empty());
    CHECK(session.data().val_feeder->options().sampler == nullptr);
    CHECK(session.data().clean_feeder->options().sampler == nullptr);
    session.model().initialize(1);
    train_to_end(session, alone);
    return evaluation_of(session).loss;
  };
  const double loss = weights(kBalanced);
  CHECK(weights(kBalanced) == loss);
  CHECK(weights("") != loss);
}
