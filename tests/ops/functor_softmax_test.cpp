#include "functor_harness.h"
#include "ops/activation.h"

namespace trainyard {
namespace {

using namespace test;

const Shape kSoftmaxShape{2, 11, 3, 5};

TEST_CASE("softmax is bit-identical in every layout, sums to one, and leaves padding zero") {
  const std::vector<double> list = test::draws(kSoftmaxShape.elements(), 6);
  std::vector<float> first;
  for (const StoredLayout& stored : test::stored_layouts(kSoftmaxShape)) {
    CAPTURE(stored.name);
    Tensor<float> x(stored, list), y(stored);
    test::run(SoftmaxOp(), Pass::forward_train, DType::f32,
              {.inputs = {x.view()}, .outputs = {y.view()}}, 2);
    if (first.empty()) first = y.elements();
    CHECK(y.elements() == first);
    CHECK(y.is_clean());
  }
  for (std::size_t pixel = 0; pixel < 15; ++pixel) {
    double sum = 0;
    for (std::size_t c = 0; c < 11; ++c) sum += first[c * 15 + pixel];
    CHECK(std::abs(sum - 1) <= 11 * 0x1p-23);  // an error of 2 ulps in each probability
  }
}

TEST_CASE("softmax handles logits whose exponentials overflow") {
  const StoredLayout stored{"", plain_layout({1, 3})};
  Tensor<float> x(stored, {3e38, 3e38, -3e38}), y(stored);
  test::run(SoftmaxOp(), Pass::forward_train, DType::f32,
            {.inputs = {x.view()}, .outputs = {y.view()}});
  CHECK(y.elements() == std::vector<float>{0.5f, 0.5f, 0.0f});
}

TEST_CASE("softmax's gradient matches the derivative of its values, in place too") {
  const std::vector<double> list = test::draws(kSoftmaxShape.elements(), 2);
  const std::vector<double> gradients = test::draws(kSoftmaxShape.elements() + 1, 1);
  const StoredLayout stored{"", blocked_layout(kSoftmaxShape, 8)};
  Tensor<double> y(stored), dy(stored, gradients), dx(stored);
  const auto weighted_sum = [&](const std::vector<double>& point) {
    Tensor<double> x(stored, point);
    test::run(SoftmaxOp(), Pass::forward_train, DType::f64,
              {.inputs = {x.view()}, .outputs = {y.view()}});
    double sum = 0;
    const std::vector<double> values = y.elements(), weights = dy.elements();
    for (std::size_t i = 0; i < values.size(); ++i) sum += values[i] * weights[i];
    return sum;
  };
  const double step = 1e-5;
  std::vector<double> slopes;
  for (const std::size_t i : {0u, 17u, 164u, 329u}) {
    std::vector<double> above = list, below = list;
    above[i] += step;
    below[i] -= step;
    slopes.push_back((weighted_sum(above) - weighted_sum(below)) / (2 * step));
  }
  static_cast<void>(weighted_sum(list));
  const auto backward = [&](Tensor<double>& out) {
    test::run(
        SoftmaxOp(), Pass::backward_data, DType::f64,
        {.outputs = {y.view()}, .output_gradients = {dy.view()}, .input_gradients = {out.view()}});
  };
  backward(dx);
  CHECK(dx.is_clean());
  std::size_t next = 0;
  // Rounding of a sum of size 30 over the step: 30 * 2^-53 / 1e-5 = 4e-10.
  for (const std::size_t i : {0u, 17u, 164u, 329u}) {
    CHECK(std::abs(dx.elements()[i] - slopes[next++]) <= 1e-9);
  }
  backward(dy);
  CHECK(dy.elements() == dx.elements());
}

}  // namespace
}  // namespace trainyard
