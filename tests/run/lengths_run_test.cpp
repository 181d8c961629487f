// Runs on sequences that end early: what is beyond a length is in no state, loss or metric.
#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../base/temporary_folder.h"
#include "run/session/session.h"
#include "run_text.h"
#include "trained_session.h"

using namespace trainyard;

namespace {

constexpr std::int64_t kPaddedSamples = 24, kPaddedSteps = 5;

/// A .npy file of one byte an element.
std::string npy(const std::string& shape, const std::vector<std::int8_t>& values) {
  const std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(header.size()) + '\0' + header +
         std::string(reinterpret_cast<const char*>(values.data()), values.size());
}

/// Sequences of 5 steps of 2 numbers with classes 0 to 2 at each step, and lengths from 1 to 5.
/// Beyond a length the numbers are `padding`, the labels `label`.
class Files {
 public:
  Files(std::int8_t padding, std::int8_t label) {
    std::vector<std::int8_t> x, y, lengths, last;
    for (std::int64_t i = 0; i < kPaddedSamples; ++i) {
      const std::int64_t length = 1 + i * 7 % kPaddedSteps;
      lengths.push_back(static_cast<std::int8_t>(length));
      last.push_back(static_cast<std::int8_t>(i % 3));
      for (std::int64_t step = 0; step < kPaddedSteps; ++step) {
        const bool counts = step < length;
        y.push_back(counts ? static_cast<std::int8_t>((i + step) % 3) : label);
        for (std::int64_t c = 0; c < 2; ++c) {
          x.push_back(counts ? static_cast<std::int8_t>((i * 3 + step * 5 + c) % 7 - 3) : padding);
        }
      }
    }
    folder_.write("x.npy", npy("(24, 5, 2)", x));
    folder_.write("y.npy", npy("(24, 5)", y));
    folder_.write("last.npy", npy("(24,)", last));
    folder_.write("lengths.npy", npy("(24,)", lengths));
  }
  /// `y` and more keys of the source.
  [[nodiscard]] std::string source(const std::string& y, const std::string& more) const {
    const auto file = [&](const std::string& name) { return (folder_.path() / name).string(); };
    return "{source: arrays, x: " + file("x.npy") + ", y: " + file(y) +
           ", lengths: " + file("lengths.npy") + ", classes: 4" + more + "}";
  }

 private:
  testing::TemporaryFolder folder_;
};

RunConfig padded_run(const std::string& source, const std::string& network,
                     const std::string& more = "") {
  return test::read_run("name: tiny\nnetwork: {" + network + "}\ndata: {train: " + source +
                        ", val: " + source +
                        ", workers: 0}\nbatch: {per_gpu: 8}\nloss: cross_entropy\n"
                        "metrics: [accuracy, perplexity]\noptimizer: {adam: {lr: 0.03}}\n"
                        "epochs: 4\n" +
                        more);
}

/// The validation split after training, and the last epoch's row.
struct PaddedEnd {
  Totals totals;
  std::vector<double> metrics;
};

PaddedEnd train_padded(const RunConfig& run) {
  RankGroup alone({});
  Session session(run, {.threads = 1}, nullptr, alone);
  session.model().initialize(3);
  test::train_to_end(session, alone);
  PaddedEnd trained{.totals = test::evaluation_of(session), .metrics = {}};
  trained.metrics =
      metric_values(session.model().graph(), trained.totals.metrics, trained.totals.samples);
  return trained;
}

bool same(const PaddedEnd& a, const PaddedEnd& b) {
  return a.totals.loss == b.totals.loss && a.totals.metrics == b.totals.metrics &&
         a.metrics == b.metrics;
}

const std::string kPadded = "input: {steps: 5, features: 2, lengths: true}, layers: ";
const std::string kWithoutLengths = "input: {steps: 5, features: 2}, layers: ";
const std::string kEach =
    "[dense: {units: 6, per_position: true}, tanh, dense: {units: 4, "
    "per_position: true}, softmax]";
const std::string kStates =
    "[lstm: {units: 6, return_sequences: true}, dense: {units: 4, "
    "per_position: true}, softmax]";
const std::string kLastState =
    "[lstm: {units: 6, return_sequences: true}, pool_steps: average, "
    "dense: 4, softmax]";

std::string refused_padded(const RunConfig& run) {
  return test::refusal([&] {
    RankGroup alone({});
    const Session session(run, {.threads = 1}, nullptr, alone);
  });
}

}  // namespace

TEST_CASE("positions beyond a length weigh as those with an ignored label") {
  const Files files(0, 3);
  const std::string source = files.source("y.npy", "");
  const PaddedEnd padded = train_padded(padded_run(source, kPadded + kEach));
  const PaddedEnd ignored =
      train_padded(padded_run(source, kWithoutLengths + kEach, "ignore_label: 3\n"));
  CHECK(same(padded, ignored));
  CHECK(padded.totals.metrics.back() == 71);  // positions: 1 + i * 7 % 5, over 24 samples
  CHECK(padded.metrics[0] > 0.3);
}

TEST_CASE("no state, loss or metric depends on what is beyond a length") {
  for (const auto& [network, labels] :
       {std::pair(kStates, "y.npy"), std::pair(kLastState, "last.npy")}) {
    CAPTURE(network);
    const Files zeros(0, 3), others(5, 1);
    const PaddedEnd a = train_padded(padded_run(zeros.source(labels, ""), kPadded + network));
    const PaddedEnd b = train_padded(padded_run(others.source(labels, ""), kPadded + network));
    CHECK(same(a, b));
    const PaddedEnd whole =
        train_padded(padded_run(others.source(labels, ""), kWithoutLengths + network));
    CHECK_FALSE(same(a, whole));
  }
}

TEST_CASE("class weights and lengths multiply") {
  const Files files(0, 1);
  const std::string source = files.source("y.npy", "");
  const PaddedEnd trained = train_padded(
      padded_run(source, kPadded + kEach, "class_weights: {0: 0}\nweigh_validation: true\n"));
  const std::vector<double>& sums = trained.totals.metrics;
  CHECK(sums[sums.size() - 2] == sums.back());
  CHECK(sums.back() < 71);
  CHECK(sums.back() > 30);
}

TEST_CASE("lengths need data that have them, and samples that stay where they are") {
  const Files files(0, 1);
  const std::string synthetic =
      "{source: synthetic_sequences, steps: 5, features: 2, classes: 4, size: 24";
  CHECK(refused_padded(padded_run(synthetic + "}", kPadded + kLastState)) ==
        "the network's input has 'lengths: true', but the data have no field 'length' with a whole "
        "number for each sample; add it to the data, or remove 'lengths'");
  CHECK(refused_padded(padded_run(synthetic + ", lengths: true}", kPadded + kLastState)) ==
        "accepted");
  const RunConfig flipped = test::read_run(
      "name: tiny\nnetwork: {" + kPadded + kLastState + "}\ndata: {train: " +
      files.source("last.npy", "") + ", val: " + files.source("last.npy", "") +
      ", augment: [hflip: 0.5]}\nbatch: {per_gpu: 8}\nloss: cross_entropy\noptimizer: sgd\n"
      "epochs: 1\n");
  CHECK(refused_padded(flipped).find(
            ": 'augment' moves the steps of samples, and the network's input has "
            "'lengths: true', which do not follow; remove one of them") != std::string::npos);
}
