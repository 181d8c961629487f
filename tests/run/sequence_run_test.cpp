// Runs on sequences: what a network must read, and losses and metrics of samples and of positions.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "run/session/session.h"
#include "run_text.h"
#include "trained_session.h"

using namespace trainyard;

namespace {

/// A run on synthetic tokens, with labels and more keys of the run.
RunConfig run_of(const std::string& network, const std::string& labels,
                 const std::string& more = "metrics: [accuracy]\n") {
  const std::string data =
      "source: synthetic_sequences, steps: 6, vocabulary: 9, classes: 3, "
      "learnable: true, labels: " +
      labels;
  return test::read_run("name: tiny\nnetwork: {" + network + "}\ndata:\n  train: {" + data +
                        ", size: 64}\n  val: {" + data +
                        ", size: 21, split: test}\n  workers: 0\nbatch: {per_gpu: 8}\n"
                        "optimizer: {adam: {lr: 0.03}}\nepochs: 8\n" +
                        (more.find("loss:") == std::string::npos ? "loss: cross_entropy\n" : "") +
                        more);
}

const std::string kTokens = "input: {tokens: 6, vocabulary: 9}, ";
const std::string kPositions =
    kTokens + "layers: [embedding: 8, dense: {units: 9, per_position: true}, softmax]";
const std::string kClasses = kTokens + "layers: [embedding: 8, global_avg_pool, dense: 3, softmax]";

struct Judged {
  Totals totals;
  std::vector<double> metrics;
};

Judged evaluated(Session& session) {
  Judged judged{.totals = test::evaluation_of(session), .metrics = {}};
  judged.metrics =
      metric_values(session.model().graph(), judged.totals.metrics, judged.totals.samples);
  return judged;
}

/// The validation split before and after training.
std::pair<Judged, Judged> train(const RunConfig& run) {
  RankGroup alone({});
  Session session(run, {.threads = 1}, nullptr, alone);
  session.model().initialize(3);
  const Judged before = evaluated(session);
  test::train_to_end(session, alone);
  return {before, evaluated(session)};
}

std::string refused(const RunConfig& run) {
  return test::refusal([&] {
    RankGroup alone({});
    const Session session(run, {.threads = 1}, nullptr, alone);
  });
}

}  // namespace

TEST_CASE("a network of tokens learns classes of sequences") {
  const auto [before, after] = train(run_of(kClasses, "classes"));
  CHECK(after.totals.samples == 21);
  CHECK(after.totals.loss < 0.5 * before.totals.loss);
  CHECK(after.metrics[0] > 0.8);
}

TEST_CASE("a network that predicts at every position learns what follows each token") {
  const RunConfig run = run_of(kPositions, "every",
                               "metrics: [accuracy, perplexity, bits_per_character, top_k: 2]\n");
  const auto [before, after] = train(run);
  const double loss = after.totals.loss / 21;
  CHECK(before.totals.loss / 21 == doctest::Approx(std::log(9.0)).epsilon(0.05));
  CHECK(loss < 0.6 * before.totals.loss / 21);
  CHECK(after.metrics[0] > 0.6);
  CHECK(after.metrics[0] < 1);
  CHECK(after.metrics[1] == doctest::Approx(std::exp(loss)).epsilon(1e-5));
  CHECK(after.metrics[2] == doctest::Approx(loss / std::numbers::ln2).epsilon(1e-5));
  CHECK(after.metrics[3] >= after.metrics[0]);
}

TEST_CASE("positions with an ignored label are in no loss and no metric") {
  const std::string metrics = "metrics: [accuracy, perplexity]\n";
  const auto [before, after] = train(run_of(kPositions, "every", "ignore_label: 4\n" + metrics));
  const std::vector<double>& sums = after.totals.metrics;
  const double weight = sums[2], counted = sums[3];
  CHECK(weight == counted);
  CHECK(counted < 21 * 6);
  CHECK(counted > 21 * 3);
  CHECK(after.metrics[0] == doctest::Approx(sums[0] / counted));
  CHECK(after.metrics[1] == doctest::Approx(std::exp(after.totals.loss / weight)).epsilon(1e-5));
  CHECK(after.metrics[0] > 0.6);
}

TEST_CASE("classes that all weigh 1 at every position give the unweighted loss") {
  const auto plain = train(run_of(kPositions, "every")).second;
  const auto weighted = train(run_of(kPositions, "every", "class_weights: {0: 1}\n")).second;
  const double weight = weighted.totals.metrics[0];
  CHECK(weight == 21 * 6);
  CHECK(weighted.totals.loss / weight == doctest::Approx(plain.totals.loss / 21).epsilon(1e-3));
}

TEST_CASE("a network whose input is not what the data are is refused, with both sides") {
  const auto with_input = [](const std::string& input) {
    return refused(
        run_of(input + ", layers: [embedding: 8, global_avg_pool, dense: 3]", "classes"));
  };
  const std::string data =
      ", but the data are {tokens: 6, vocabulary: 9}; change 'input' of the network or the data";
  CHECK(with_input("input: {tokens: 7, vocabulary: 9}") ==
        "2:10: the network's input is {tokens: 7, vocabulary: 9}" + data);
  CHECK(with_input("input: {tokens: 6, vocabulary: 8}") ==
        "2:10: the network's input is {tokens: 6, vocabulary: 8}" + data);
  CHECK(with_input("input: {tokens: 6, vocabulary: 10}") == "accepted");
  CHECK(refused(run_of("input: [6], layers: [dense: 3]", "classes")) ==
        "2:10: the network's input is [6]" + data);
  CHECK(refused(run_of(kTokens + "layers: [embedding: 8, global_avg_pool, dense: 4]", "classes"))
            .find("the network ends in 4 outputs, but the data have 3 classes") !=
        std::string::npos);
}

TEST_CASE("labels of samples for a network of positions, and the reverse, are refused") {
  CHECK(refused(run_of(kTokens + "layers: [embedding: 3]", "classes"))
            .find("cross_entropy needs labels [8, 6], found [8]") != std::string::npos);
  CHECK(refused(run_of(kTokens + "layers: [embedding: 8, global_avg_pool, dense: 9]", "every"))
            .find("cross_entropy needs labels [8] or targets [8, 9], found [8, 6]") !=
        std::string::npos);
}

TEST_CASE("tables of classes are of samples, not of positions") {
  CHECK(refused(run_of(kPositions, "every", "output: {classes: true}\n")) ==
        "'output.classes' makes tables of one label for each sample, but the network predicts at 6 "
        "positions; remove it");
}

TEST_CASE("a metric of the cross-entropy needs that loss") {
  const std::string logits = kTokens + "layers: [embedding: 8, global_avg_pool, dense: 3]";
  CHECK(refused(run_of(logits, "classes", "loss: mse\nmetrics: [perplexity]\n")) ==
        "metric 'perplexity' is made of the cross-entropy, but the loss of its output is mse; set "
        "'loss: cross_entropy'");
}
