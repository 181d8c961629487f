// Which checkpoint is the best one, where `mode` is left out.
#include <doctest/doctest.h>

#include "run_text.h"

using namespace trainyard;

namespace {

BestConfig::Mode mode_of(const std::string& best) {
  return test::read_run(R"(name: tiny
batch: {per_gpu: 2}
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 100}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
loss: cross_entropy
optimizer: sgd
epochs: 1
checkpoint: {best: )" + best +
                        "}\n")
      .checkpoint.best->mode;
}

}  // namespace

TEST_CASE("losses and errors are minimised unless the run says otherwise") {
  using Mode = BestConfig::Mode;
  CHECK(mode_of("{metric: val_loss}") == Mode::min);
  CHECK(mode_of("{metric: val_error}") == Mode::min);
  CHECK(mode_of("{metric: val_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_top5_accuracy}") == Mode::max);
  CHECK(mode_of("{metric: val_loss, mode: max}") == Mode::max);
  CHECK(mode_of("{metric: val_accuracy, mode: min}") == Mode::min);
}
