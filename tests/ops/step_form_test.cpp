// Sets of fusions, and what a step's form says about it.
#include "ops/step_form.h"

#include <doctest/doctest.h>

namespace trainyard {
namespace {

TEST_CASE("a set has the fusions that it was given and that were not taken away") {
  Cans cans{Can::fuse, Can::sum_bias};
  cans.set(Can::recompute).set(Can::sum_bias, false);
  CHECK(cans(Can::fuse));
  CHECK(cans(Can::recompute));
  CHECK_FALSE(cans(Can::sum_bias));
  CHECK_FALSE(cans(Can::write_slices));
}

TEST_CASE("a loss adds the bias of the layer before, a ReLU sums its gradient") {
  StepForm form;
  CHECK_FALSE(form.adds_layer_bias());
  CHECK_FALSE(form.sums_layer_bias());
  form.bias = StepForm::Bias::of_other;
  CHECK_FALSE(form.adds_layer_bias());
  CHECK(form.sums_layer_bias());
  form.loss = true;
  CHECK(form.adds_layer_bias());
  CHECK_FALSE(form.sums_layer_bias());
}

TEST_CASE("a step is on the main queue unless its form says otherwise") {
  StepForm form;
  CHECK_FALSE(form.on_side_queue());
  form.queue = StepQueue::side;
  CHECK(form.on_side_queue());
}

}  // namespace
}  // namespace trainyard
