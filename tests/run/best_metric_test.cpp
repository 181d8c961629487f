// The metric that selects a run's best model.
#include <doctest/doctest.h>

#include "run_text.h"

using namespace trainyard;

namespace {

RunConfig judged_by(const std::string& best) {
  return test::read_run(R"(name: tiny
batch: {per_gpu: 2}
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
metrics: [accuracy, top_k: 3]
optimizer: sgd
epochs: 1
checkpoint: {best: )" + best +
                        "}\n");
}

BestConfig::Mode mode_of(const std::string& best) { return judged_by(best).checkpoint.best->mode; }

std::string refused(const std::string& best) {
  return test::refusal([&] { static_cast<void>(judged_by(best)); });
}

}  // namespace

TEST_CASE("losses and errors are minimised unless the run says otherwise") {
  using Mode = BestConfig::Mode;
  CHECK(mode_of("{metric: val_loss}") == Mode::min);
  CHECK(mode_of("{metric: val_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_top3_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_loss, mode: max}") == Mode::max);
  CHECK(mode_of("{metric: val_accuracy, mode: min}") == Mode::min);
}

TEST_CASE("a run selects its best model by a column of its validation split") {
  const std::string known = "val_loss, val_accuracy, val_top3_accuracy";
  const std::string place = "11:29: checkpoint.best: 'metric' must be one of " + known + ", found ";
  CHECK(refused("{metric: val_acuracy}") == place + "'val_acuracy'; did you mean 'val_accuracy'?");
  CHECK(refused("{metric: accuracy}") == place + "'accuracy'");
  CHECK(refused("{metric: ''}") == place + "''");
  CHECK(refused("val_los") == "11:20: checkpoint.best: 'metric' must be one of " + known +
                                  ", found 'val_los'; did you mean 'val_loss'?");
}
