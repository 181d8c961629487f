#include <array>

#include "functor_harness.h"
#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard {
namespace {

using namespace test;

/// Logits, labels and the state that a loss reads.
struct Problem {
  std::int64_t samples = 3, classes = 4;
  std::vector<double> logits = {0.5, -1, 2, 0.25, 3, 1, -2, 0.75, -0.5, 0, 1, 1.5};
  std::vector<double> labels = {2, 0, 1};
  StepState state{.gradient_scale = 1.0 / 3, .valid = 3};
};

template <class T>
std::vector<T> run_loss(const Op& op, const Problem& problem, Pass pass) {
  const StoredLayout matrix{"", plain_layout({problem.samples, problem.classes})};
  const StoredLayout list{"", plain_layout({problem.samples})};
  Tensor<T> x(matrix, problem.logits), losses(list), dx(matrix);
  Tensor<std::int32_t> labels(list, problem.labels);
  StepTensors tensors{.inputs = {x.view(), labels.view()}, .outputs = {losses.view()}};
  tensors.input_gradients = {dx.view(), {}};
  tensors.batch.state = &problem.state;
  test::run(op, pass, DTypeOf<T>::value, tensors, 2);
  return pass == Pass::backward_data ? dx.elements() : losses.elements();
}

const LossOp kCross("cross_entropy", LossAttributes{}),
    kSmooth("cross_entropy", LossAttributes{.label_smoothing = 0.1});
const LossOp kBinary("binary_cross_entropy", LossAttributes{}),
    kBinarySmooth("binary_cross_entropy", LossAttributes{.label_smoothing = 0.2});
const LossOp kSquared("mse", LossAttributes{});
const std::array<const Op*, 5> kLosses = {&kCross, &kSmooth, &kBinary, &kBinarySmooth, &kSquared};

TEST_CASE("cross_entropy is minus the logarithm of the softmax at the target") {
  const Problem problem;
  const std::vector<double> plain = run_loss<double>(kCross, problem, Pass::forward_train);
  const std::vector<double> smooth = run_loss<double>(kSmooth, problem, Pass::forward_train);
  for (std::size_t n = 0; n < 3; ++n) {
    double sum = 0, even = 0;
    for (std::size_t c = 0; c < 4; ++c) sum += std::exp(problem.logits[n * 4 + c]);
    for (std::size_t c = 0; c < 4; ++c) even += (std::log(sum) - problem.logits[n * 4 + c]) / 4;
    const double exact =
        std::log(sum) - problem.logits[n * 4 + static_cast<std::size_t>(problem.labels[n])];
    // A dozen roundings of values below 4.
    CHECK(std::abs(plain[n] - exact) <= 12 * 0x1p-51);
    CHECK(std::abs(smooth[n] - (0.9 * exact + 0.1 * even)) <= 24 * 0x1p-51);
  }
}

TEST_CASE("binary_cross_entropy takes one output, or one for each class") {
  const Problem one{.samples = 2, .classes = 1, .logits = {0.7, -1.2}, .labels = {1, 0}};
  const std::vector<double> single = run_loss<double>(kBinary, one, Pass::forward_eval);
  CHECK(single[0] == doctest::Approx(std::log1p(std::exp(-0.7))));
  CHECK(single[1] == doctest::Approx(std::log1p(std::exp(-1.2))));
  const Problem two{.samples = 1, .classes = 2, .logits = {0.7, -1.2}, .labels = {0}};
  const std::vector<double> pair = run_loss<double>(kBinary, two, Pass::forward_eval);
  CHECK(pair[0] == doctest::Approx((single[0] + single[1]) / 2));
}

TEST_CASE("mse is the mean square of the differences to the one-hot label") {
  const Problem problem{.samples = 1, .classes = 2, .logits = {0.5, 3}, .labels = {1}};
  CHECK(run_loss<double>(kSquared, problem, Pass::forward_eval)[0] == (0.25 + 4) / 2);
}

TEST_CASE("losses' gradients match the derivatives of their values times the scale") {
  const double step = 1e-5;
  for (const Op* op : kLosses) {
    CAPTURE(op->type());
    const Problem problem;
    const std::vector<double> dx = run_loss<double>(*op, problem, Pass::backward_data);
    for (std::size_t i = 0; i < problem.logits.size(); ++i) {
      Problem above = problem, below = problem;
      above.logits[i] += step;
      below.logits[i] -= step;
      const double high = run_loss<double>(*op, above, Pass::forward_train)[i / 4];
      const double low = run_loss<double>(*op, below, Pass::forward_train)[i / 4];
      // Rounding of losses below 16: 16 * 2^-53 / 1e-5 = 2e-10.
      CHECK(std::abs(dx[i] - (high - low) / (2 * step) / 3) <= 1e-9);
    }
  }
}

TEST_CASE("losses stay finite and correct for logits whose exponentials overflow") {
  const Problem far{
      .samples = 2, .classes = 2, .logits = {1e30, -1e30, 1e30, -1e30}, .labels = {0, 1}};
  const std::vector<float> cross = run_loss<float>(kCross, far, Pass::forward_train);
  CHECK(cross[0] == 0.0f);
  CHECK(cross[1] == 2e30f);
  const std::vector<float> binary = run_loss<float>(kBinary, far, Pass::forward_train);
  CHECK(binary[0] == 0.0f);
  CHECK(binary[1] == 1e30f);
  for (const float gradient : run_loss<float>(kCross, far, Pass::backward_data)) {
    CHECK(std::abs(gradient) <= 1.0f);
  }
}

TEST_CASE("a confident sigmoid keeps the precision of its loss") {
  const Problem problem{.samples = 1, .classes = 1, .logits = {30}, .labels = {1}};
  // log(1 + e^-30) = 9.36e-14, which 1 + e^-30 in float would lose.
  CHECK(run_loss<float>(kBinary, problem, Pass::forward_eval)[0] ==
        doctest::Approx(std::exp(-30.0)));
}

TEST_CASE("samples beyond the valid ones give zero, whatever they contain") {
  const double nan = std::nan("");
  for (const Op* op : kLosses) {
    CAPTURE(op->type());
    Problem problem{.logits = {0, 1, 2, 3, nan, nan, nan, nan, nan, nan, nan, nan}};
    problem.state.valid = 1;
    const std::vector<float> losses = run_loss<float>(*op, problem, Pass::forward_eval);
    CHECK(losses[0] > 0);
    CHECK(losses[1] == 0);
    CHECK(losses[2] == 0);
    const std::vector<float> dx = run_loss<float>(*op, problem, Pass::backward_data);
    CHECK(dx[2] != 0);
    for (std::size_t i = 4; i < 12; ++i) CHECK(dx[i] == 0);
  }
}

TEST_CASE("a non-finite logit or a label that is not a class gives a non-finite loss") {
  for (const Op* op : kLosses) {
    CAPTURE(op->type());
    Problem nan_problem;
    nan_problem.logits[2] = std::nan("");
    CHECK(std::isnan(run_loss<float>(*op, nan_problem, Pass::forward_train)[0]));
    for (const double label : {-1, 4}) {
      Problem problem;
      problem.labels[1] = label;
      CHECK(std::isnan(run_loss<float>(*op, problem, Pass::forward_train)[1]));
    }
  }
}

TEST_CASE("with one output only labels 0 and 1 are valid") {
  for (const Op* op : {static_cast<const Op*>(&kBinary), static_cast<const Op*>(&kSquared)}) {
    CAPTURE(op->type());
    const Problem problem{.classes = 1, .logits = {0.5, 0.5, 0.5}, .labels = {1, 2, -1}};
    const std::vector<float> losses = run_loss<float>(*op, problem, Pass::forward_train);
    CHECK(std::isfinite(losses[0]));
    CHECK(std::isnan(losses[1]));
    CHECK(std::isnan(losses[2]));
  }
}

TEST_CASE("a merged step of a loss adds the layer's bias and gives its value and accuracy too") {
  const Problem problem;
  const StoredLayout matrix{"", plain_layout({3, 4})}, list{"", plain_layout({3})};
  const std::vector<double> added{0.5, 4, -1, 0.25};
  const TopKOp accuracy("accuracy", {});
  for (const bool whole : {false, true}) {
    Tensor<double> x(matrix, problem.logits), losses(list), hits(list), dx(matrix);
    Tensor<double> bias({"", plain_layout({4})}, added);
    Tensor<std::int32_t> labels(list, {1, 0, 0});
    StepDescription step{.op = &kCross, .pass = Pass::backward_data, .storage = DType::f64};
    step.inputs = {matrix.layout, list.layout};
    step.outputs = {list.layout};
    step.form.loss = true;
    StepTensors tensors{.inputs = {x.view(), labels.view()}, .outputs = {losses.view()}};
    tensors.input_gradients = {dx.view(), {}};
    tensors.batch.state = &problem.state;
    if (whole) {
      step.form.accuracy = &accuracy;
      step.form.bias = StepForm::Bias::of_other;
      step.outputs.push_back(list.layout);
      tensors.inputs.push_back(labels.view());
      tensors.outputs.push_back(hits.view());
      tensors.parameters = {bias.view()};
    }
    const std::unique_ptr<Executor> executor = make_functor_executor(step);
    REQUIRE(executor != nullptr);
    executor->bind(tensors);
    executor->run();
    Problem biased{.labels = {1, 0, 0}};
    for (std::size_t i = 0; i < 12; ++i) biased.logits[i] += whole ? added[i % 4] : 0;
    CHECK(losses.elements() == run_loss<double>(kCross, biased, Pass::forward_train));
    CHECK(dx.elements() == run_loss<double>(kCross, biased, Pass::backward_data));
    CHECK(x.elements() == biased.logits);
    if (whole) CHECK(hits.elements() == std::vector<double>{1, 0, 0});
  }
}

TEST_CASE("losses refuse shapes that are not one row per sample, and say what to do") {
  const auto infer = [](const Op& op, std::vector<Shape> shapes) {
    static_cast<void>(op.infer(shapes));
  };
  CHECK_THROWS_WITH_AS(infer(kCross, {{8, 10, 4, 4}, {8}}),
                       "cross_entropy needs features [n, classes] or a sequence [n, classes, 1, "
                       "t], found [8, 10, 4, 4]; end the network with dense, flatten or a global "
                       "pool",
                       ShapeError);
  CHECK_THROWS_WITH_AS(infer(kCross, {{8, 1}, {8}}),
                       "cross_entropy needs at least 2 classes, found 1; binary_cross_entropy "
                       "takes one",
                       ShapeError);
  CHECK_THROWS_WITH_AS(infer(kSquared, {{8, 1}, {7}}),
                       "mse needs labels [8] or targets [8, 1], found [7]", ShapeError);
  CHECK_THROWS_WITH_AS(infer(kCross, {{8, 10, 1, 4}, {8}}),
                       "cross_entropy needs labels [8, 4], found [8]", ShapeError);
}

}  // namespace
}  // namespace trainyard
