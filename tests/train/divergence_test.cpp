// When a run counts as diverged, and the warnings about suspicious epochs.
#include "train/divergence.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "base/error.h"

using namespace trainyard;

namespace {

std::string message_of(const Divergence& divergence) {
  try {
    report(divergence);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::diverged);
    return error.what();
  }
}

std::vector<std::string> warnings_of(const std::vector<EpochRow>& rows) {
  std::vector<std::string> warnings;
  EpochWatch watch;
  for (const EpochRow& row : rows) {
    watch.look(row, [&](const std::string& text) { warnings.push_back(text); });
  }
  return warnings;
}

EpochRow row_of(double loss, double val_loss, double training, double validation) {
  return {.epoch = 1,
          .loss = loss,
          .val_loss = val_loss,
          .metrics = {{.name = "accuracy", .training = training, .validation = validation}}};
}

}  // namespace

TEST_CASE("a loss above 1e4 times its first value is a divergence, and so is a non-finite one") {
  LossLimit limit;
  CHECK(limit.fault(2.0).empty());
  CHECK(limit.fault(20000.0).empty());
  CHECK(limit.fault(20001.0) == "the loss started at 2 and is now above 20000");
  CHECK(limit.fault(1.7e36) == "the loss started at 2 and is now above 20000");
  CHECK(limit.fault(std::numeric_limits<double>::quiet_NaN()) == "the loss is not finite");
  CHECK(limit.fault(std::numeric_limits<double>::infinity()) == "the loss is not finite");
}

TEST_CASE("a run that begins with a tiny loss may have a batch far above it") {
  LossLimit limit;
  CHECK(limit.fault(1e-7).empty());
  CHECK(limit.fault(9000).empty());
  CHECK_FALSE(limit.fault(10001).empty());
}

TEST_CASE("a divergence is reported with step, epoch, loss, learning rate and advice") {
  CHECK(message_of({.step = 6,
                    .epoch = 1,
                    .where = "net.yaml:3:5",
                    .text = "layer 'conv1': its output is not finite",
                    .loss = 1.7e36,
                    .rate = 0.25}) ==
        "net.yaml:3:5: training diverged at step 7 (epoch 2): layer 'conv1': its output is not "
        "finite; loss 1.7e+36; learning rate 0.25; lower the learning rate, add a warm-up or set "
        "'clip_norm'");
  CHECK(message_of({.text = "x", .scales_loss = true}) ==
        "training diverged at step 1 (epoch 1): x; lower the learning rate, add a warm-up or set "
        "'clip_norm', or change 'loss_scale'");
}

TEST_CASE("a val_loss hundreds of times the training loss gives one warning") {
  CHECK(warnings_of({row_of(0.5, 49, 0.5, 0.4), row_of(0.001, 0.9, 0.9, 0.8)}).empty());
  const auto warnings = warnings_of({row_of(0.5, 120, 0.5, 0.4), row_of(0.4, 500, 0.6, 0.3)});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].starts_with("epoch 1: val_loss 120 is 240 times the training loss; do both"));
}

TEST_CASE("an accuracy that stays the same for three epochs gives one warning") {
  const EpochRow same = row_of(2.3, 2.3, 0.1, 0.1);
  CHECK(warnings_of({same, same}).empty());
  CHECK(warnings_of({same, same, row_of(2.3, 2.3, 0.11, 0.1), same, same}).empty());
  const EpochRow perfect = row_of(0.01, 0.01, 1, 1);
  CHECK(warnings_of({perfect, perfect, perfect}).empty());
  const auto warnings = warnings_of({same, same, same, same});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "nothing is learnt: loss 2.3, accuracy 0.1000, val_accuracy 0.1000 have not changed for 3 "
        "epochs; is the learning rate 0 or far too high, or are the layers frozen?");
}

TEST_CASE("a loss that falls, or has fallen, is learnt whatever the accuracy is") {
  CHECK(warnings_of({row_of(2.3, 2.3, 0.1, 0.1), row_of(2.2, 2.3, 0.1, 0.1),
                     row_of(2.1, 2.3, 0.1, 0.1), row_of(2.0, 2.3, 0.1, 0.1)})
            .empty());
  const EpochRow learnt = row_of(0.0578, 0.001, 0.9583, 1);
  CHECK(warnings_of({row_of(1.1, 1, 0.4, 0.4), learnt, learnt, learnt, learnt}).empty());
  // Rounding of a sum in another order is no change.
  CHECK(warnings_of({row_of(2.3, 2.3, 0.1, 0.2), row_of(2.3 * (1 + 1e-6), 2.3, 0.1, 0.2),
                     row_of(2.3, 2.3, 0.1, 0.2)})[0]
            .starts_with("nothing is learnt: loss 2.3, accuracy 0.1000, val_accuracy 0.2000 "));
}

TEST_CASE("values that are not numbers are named with their reason, once") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EpochRow row = row_of(0.5, nan, 0.5, nan);
  row.val_counted = 0;
  row.metrics.push_back({.name = "auc", .training = {}, .validation = nan, .fault = "one class"});
  const auto warnings = warnings_of({row, row});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "epoch 1: not a number: val_loss, val_accuracy, val_auc: no sample counts, as every label "
        "is ignored or every weight is 0; such an epoch is neither the best nor without "
        "improvement");
  row.val_counted = 4;
  const auto reasons = warnings_of({row});
  REQUIRE(reasons.size() == 2);
  CHECK(reasons[0].starts_with("epoch 1: not a number: val_loss, val_accuracy: an output of the "));
  CHECK(reasons[1].starts_with("epoch 1: not a number: val_auc: one class; "));
  CHECK(warnings_of({row_of(nan, 1, nan, 0.5)})[0].starts_with(
      "epoch 1: not a number: loss, accuracy: an output of the network is not a number, or "));
}
