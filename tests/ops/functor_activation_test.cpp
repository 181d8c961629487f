#include <cmath>
#include <functional>

#include "functor_harness.h"
#include "ops/activation.h"

namespace trainyard {
namespace {

using namespace test;

struct Case {
  std::shared_ptr<const Op> op;
  std::function<double(double)> exact;
};

template <class Function>
std::shared_ptr<const Op> op_of(Function function = {}) {
  return std::make_shared<ActivationOp<Function>>(function);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Case> cases() {
  const double scale = 1.0507009873554804934, alpha = 1.6732632423543772848;
  return {
      {op_of<Relu>(), [](double x) { return std::max(x, 0.0); }},
      {op_of<Relu6>(), [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {op_of<ScaleBy>({.factor = 0.7}), [](double x) { return 0.7 * x; }},
      {op_of<LeakyRelu>({.slope = 0.1}), [](double x) { return x < 0 ? 0.1 * x : x; }},
      {op_of<Elu>({.alpha = 0.7}), [](double x) { return x < 0 ? 0.7 * std::expm1(x) : x; }},
      {op_of<Selu>(), [=](double x) { return scale * (x < 0 ? alpha * std::expm1(x) : x); }},
      {op_of<Gelu>(), [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {op_of<Swish>(), [](double x) { return x * sigmoid(x); }},
      {op_of<Sigmoid>(), sigmoid},
      {op_of<HardSigmoid>(), [](double x) { return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0); }},
      {op_of<Tanh>(), [](double x) { return std::tanh(x); }},
      {op_of<Softplus>(),
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
      {op_of<Identity>(), [](double x) { return x; }},
  };
}

/// Away from the kinks (0, for relu6 6 and for hard_sigmoid +-2.5), near zero and far from it.
const std::vector<double> kPoints = {-80,  -9.3, -3.1, -2.4, -1,  -0.35, -1e-3, -1e-6, 1e-6,
                                     1e-3, 0.2,  0.9,  1.7,  2.4, 2.6,   4.2,   11,    80};

StoredLayout line() {
  return {"line", plain_layout({1, static_cast<std::int64_t>(kPoints.size())})};
}

template <class T>
std::vector<T> forward(const Op& op, const std::vector<double>& points) {
  Tensor<T> x(line(), points), y(line());
  test::run(op, Pass::forward_train, DTypeOf<T>::value,
            {.inputs = {x.view()}, .outputs = {y.view()}});
  return y.elements();
}

TEST_CASE("activations in float are within four ulps of the exact value") {
  // tanh has three ulps, the rest two and a few roundings more. gelu's 1 + erf(x) cancels to an
  // absolute error of one float rounding of 1 (2^-24) times |x| far below 0.
  for (const Case& item : cases()) {
    CAPTURE(item.op->type());
    const std::vector<float> y = forward<float>(*item.op, kPoints);
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      CAPTURE(kPoints[i]);
      const double exact = item.exact(static_cast<float>(kPoints[i]));
      const double cancelled = item.op->type() == "gelu" ? std::abs(kPoints[i]) * 0x1p-24 : 0;
      CHECK(std::abs(y[i] - exact) <= 4 * 0x1p-23 * std::abs(exact) + cancelled + 0x1p-126);
    }
  }
}

TEST_CASE("activations' gradients match the derivatives of their values") {
  const double step = 1e-5;
  for (const Case& item : cases()) {
    CAPTURE(item.op->type());
    std::vector<double> above = kPoints, below = kPoints;
    for (double& x : above) x += step / 2 * std::max(1e-2, std::min(1.0, std::abs(x)));
    for (double& x : below) x -= step / 2 * std::max(1e-2, std::min(1.0, std::abs(x)));
    Tensor<double> x(line(), kPoints), y(line()), dy(line(), {3}), dx(line());
    test::run(*item.op, Pass::forward_train, DType::f64,
              {.inputs = {x.view()}, .outputs = {y.view()}});
    test::run(*item.op, Pass::backward_data, DType::f64,
              {.inputs = {x.view()},
               .outputs = {y.view()},
               .output_gradients = {dy.view()},
               .input_gradients = {dx.view()}});
    const std::vector<double> high = forward<double>(*item.op, above);
    const std::vector<double> low = forward<double>(*item.op, below);
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      if (std::abs(kPoints[i]) < 1e-5) continue;  // the difference would cross the kink
      CAPTURE(kPoints[i]);
      const double slope = 3 * (high[i] - low[i]) / (above[i] - below[i]);
      // Central differences: rounding of values up to 80 over 1e-7 at the nearest, 80 * 2^-52 /
      // 1e-7 = 2e-7; the truncation step^2 / 24 * f''' is below 1e-10.
      CHECK(std::abs(dx.elements()[i] - slope) <= 1e-6);
    }
  }
}

TEST_CASE("activations propagate NaN") {
  const double nan = std::nan("");
  for (const Case& item : cases()) {
    CAPTURE(item.op->type());
    CHECK(std::isnan(forward<float>(*item.op, {nan})[0]));
    CHECK(std::isnan(forward<double>(*item.op, {nan})[0]));
  }
}

TEST_CASE("softplus keeps its precision far below zero") {
  // e^-30 = 9.3576e-14: 1 + e^x would be 1.
  CHECK(forward<float>(*op_of<Softplus>(), {-30})[0] == doctest::Approx(std::exp(-30.0)));
}

// One activation with f(0) = 0 and one without.
TEST_CASE("activations are bit-identical in every pair of layouts and leave padding zero") {
  const Shape shape{2, 11, 3, 5};
  const std::vector<double> list = test::draws(shape.elements(), 4);
  for (const std::shared_ptr<const Op>& op : {op_of<Swish>(), op_of<Sigmoid>()}) {
    Tensor<float> plain_x({"", plain_layout(shape)}, list), plain_y({"", plain_layout(shape)});
    test::run(*op, Pass::forward_train, DType::f32,
              {.inputs = {plain_x.view()}, .outputs = {plain_y.view()}});
    for (const StoredLayout& from : test::stored_layouts(shape)) {
      for (const StoredLayout& to : test::stored_layouts(shape)) {
        CAPTURE(from.name);
        CAPTURE(to.name);
        Tensor<float> x(from, list), y(to);
        test::run(*op, Pass::forward_train, DType::f32,
                  {.inputs = {x.view()}, .outputs = {y.view()}}, 3);
        CHECK(y.elements() == plain_y.elements());
        CHECK(y.is_clean());
        CHECK(x.is_clean());
      }
    }
  }
}

TEST_CASE("a single padding channel of a single image stays zero") {
  const Shape shape{1, 7, 2, 3};
  Tensor<float> x({"", plain_layout(shape)}, test::draws(shape.elements(), 4));
  Tensor<float> y({"", blocked_layout(shape, 8)});
  test::run(*op_of<Sigmoid>(), Pass::forward_train, DType::f32,
            {.inputs = {x.view()}, .outputs = {y.view()}});
  CHECK(y.is_clean());
}

TEST_CASE("activations may overwrite their input and their output's gradient") {
  const StoredLayout stored{"", blocked_layout({2, 5, 3, 3}, 8)};
  const std::vector<double> list = test::draws(90, 3), gradients = test::draws(90, 1);
  for (const Case& item : cases()) {
    CAPTURE(item.op->type());
    CHECK(item.op->contract().in_place_forward);
    CHECK(item.op->contract().in_place_backward);
    Tensor<float> x(stored, list), y(stored), dy(stored, gradients), dx(stored), kept(stored, list);
    const auto pass = [&](Pass which, Tensor<float>& out, Tensor<float>& gradient) {
      test::run(*item.op, which, DType::f32,
                {.inputs = {x.view()},
                 .outputs = {out.view()},
                 .output_gradients = {dy.view()},
                 .input_gradients = {gradient.view()}});
    };
    pass(Pass::forward_train, y, dx);
    pass(Pass::backward_data, y, dx);
    pass(Pass::backward_data, y, dy);
    pass(Pass::forward_train, x, dx);
    CHECK(x.elements() == y.elements());
    CHECK(dy.elements() == dx.elements());
  }
}

}  // namespace
}  // namespace trainyard
