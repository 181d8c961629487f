// pool_steps by its definition: what a mask keeps, ties, and samples without a step.
#include "functor_harness.h"
#include "ops/sequence.h"
#include "ops/shapes.h"

namespace trainyard {
namespace {

using namespace test;

/// Three samples of four steps of two channels, [step][channel]; the last has no step that counts.
const std::vector<double> kSteps = {1, -5, 4, 2,  4, 8, 7,  9,   //
                                    3, -1, 2, -2, 9, 9, -4, -3,  //
                                    5, 5,  5, 5,  5, 5, 5,  5};
const std::vector<double> kMask = {1, 1, 1, 0, 7, 2, 0, 0, 0, 0, 0, 0};
const std::vector<double> kArriving = {3, 6, 12, 24, 48, 96};

struct Pooled {
  std::vector<double> y, dx;  // [sample][channel], [sample][step][channel]
  bool operator==(const Pooled&) const = default;
};

Pooled pooled(StepPooling kind, bool mask, const std::vector<double>& steps = kSteps) {
  const StoredLayout flat{"", plain_layout({24})}, features{"", plain_layout({3, 2})};
  const PoolStepsOp op({.kind = kind, .mask = mask});
  Tensor<double> x(flat, steps), dx(flat), y(features), dy(features, kArriving);
  Tensor<std::int32_t> counted({"", plain_layout({3, 4})}, kMask);
  StepTensors tensors{.inputs = {x.view()},
                      .outputs = {y.view()},
                      .output_gradients = {dy.view()},
                      .input_gradients = {dx.view()}};
  tensors.inputs[0].layout = tensors.input_gradients[0].layout = row_layout({3, 2, 1, 4});
  if (mask) {
    tensors.inputs.push_back(counted.view());
    tensors.input_gradients.emplace_back();
  }
  test::run(op, Pass::forward_train, DType::f64, tensors, 2);
  test::run(op, Pass::backward_data, DType::f64, tensors, 2);
  CHECK(y.is_clean());
  CHECK(dx.is_clean());
  return {y.elements(), dx.elements()};
}

TEST_CASE("pool_steps takes the mean of the steps that count, 0 without any") {
  CHECK(pooled(StepPooling::average, true) ==
        Pooled{.y = {3, 5.0 / 3, 2.5, -1.5, 0, 0},
               .dx = {1, 2, 1, 2, 1, 2, 0, 0, 6, 12, 6, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  CHECK(pooled(StepPooling::average, false).y == std::vector<double>{4, 3.5, 2.5, 0.75, 5, 5});
}

TEST_CASE("pool_steps takes the first of the largest steps that count") {
  CHECK(pooled(StepPooling::maximum, true) ==
        Pooled{.y = {4, 8, 3, -1, 0, 0},
               .dx = {0, 0, 3, 0, 0, 6, 0, 0, 12, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  CHECK(pooled(StepPooling::maximum, false) ==
        Pooled{.y = {7, 9, 9, 9, 5, 5},
               .dx = {0, 0, 0, 0, 0, 0, 3, 6, 0, 0, 0, 0, 12, 24, 0, 0, 48, 96, 0, 0, 0, 0, 0, 0}});
}

TEST_CASE("pool_steps takes the last step that counts, the first one too") {
  CHECK(pooled(StepPooling::last, true) ==
        Pooled{.y = {4, 8, 2, -2, 0, 0},
               .dx = {0, 0, 0, 0, 3, 6, 0, 0, 0, 0, 12, 24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}});
  CHECK(pooled(StepPooling::last, false).y == std::vector<double>{7, 9, -4, -3, 5, 5});
}

TEST_CASE("the first NaN of the steps that count is their largest value") {
  std::vector<double> steps = kSteps;
  steps[2] = steps[4] = std::nan("");
  const Pooled found = pooled(StepPooling::maximum, true, steps);
  CHECK(std::isnan(found.y[0]));
  CHECK(found.dx[2] == 3);
  CHECK(found.dx[4] == 0);
}

TEST_CASE("one_hot gives a 1 at the token's place, and zeros to a token that is none") {
  Tensor<std::int32_t> tokens({"", plain_layout({2, 2})}, {2, 0, -1, 3});
  Tensor<float> y({"", plain_layout({12})});
  StepTensors tensors{.inputs = {tokens.view()}, .outputs = {y.view()}};
  tensors.outputs[0].layout = row_layout({2, 3, 1, 2});
  test::run(OneHotOp(3), Pass::forward_train, DType::f32, tensors);
  CHECK(y.elements() == std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
}

}  // namespace
}  // namespace trainyard
