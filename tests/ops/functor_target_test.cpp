// Losses of every kind of target, with weights.
#include <algorithm>
#include <array>
#include <memory>

#include "compute/elementwise/loss_functions.h"
#include "functor_harness.h"
#include "ops/loss.h"

namespace trainyard {
namespace {

using namespace test;

/// Outputs, a target and weights: three samples of four classes.
struct TargetProblem {
  std::vector<double> outputs = {0.5,   0.125, 0.75, 0.25, 0.375, 0.0625, 1.5,
                                 0.875, 0.625, 0.3,  0.1,  0.2};  // above 0, for kl and poisson
  std::vector<double> labels = {2, 0, 1};
  std::vector<double> dense;     // [3, 4] targets instead; empty: labels
  std::vector<double> weights;   // empty: none
  std::vector<double> mixed;     // [3, 2] other classes and their shares; empty: none
  std::vector<double> arriving;  // the gradient of each loss; empty: the state's scale
  StepState state{.gradient_scale = 0.5, .valid = 3};
};

/// One value for a tensor that is not read, if there are none.
std::vector<double> or_zero(const std::vector<double>& values) {
  return values.empty() ? std::vector<double>{0} : values;
}

std::vector<double> run_loss(const Op& op, const TargetProblem& problem, Pass pass) {
  const StoredLayout matrix{"", plain_layout({3, 4})}, list{"", plain_layout({3})};
  const StoredLayout pairs{"", plain_layout({3, 2})};
  Tensor<double> x(matrix, problem.outputs), losses(list), dx(matrix),
      dy(list, or_zero(problem.arriving));
  Tensor<std::int32_t> labels(list, problem.labels);
  Tensor<float> dense(matrix, or_zero(problem.dense)), weights(list, or_zero(problem.weights));
  Tensor<float> mixed(pairs, or_zero(problem.mixed));
  StepTensors tensors{.inputs = {x.view(), problem.dense.empty() ? labels.view() : dense.view()},
                      .outputs = {losses.view()}};
  if (!problem.weights.empty()) tensors.inputs.push_back(weights.view());
  if (!problem.mixed.empty()) tensors.inputs.push_back(mixed.view());
  tensors.input_gradients = {dx.view(), {}, {}, {}};
  tensors.output_gradients = {problem.arriving.empty() ? TensorView{} : dy.view()};
  tensors.batch.state = &problem.state;
  test::run(op, pass, DType::f64, tensors, 2);
  return pass == Pass::backward_data ? dx.elements() : losses.elements();
}

std::vector<std::unique_ptr<LossOp>> all_losses() {
  std::vector<std::unique_ptr<LossOp>> losses;
  for (const auto& kind : loss_kinds()) {
    config::Diagnostics diagnostics;
    const config::Node nothing;
    config::Fields fields(nothing, nullptr, "loss", config::Profile::keras2, diagnostics);
    losses.push_back(kind.read(fields));
  }
  return losses;
}

TargetProblem with_dense() {
  return {.dense = {0.1, 0.2, 0.3, 0.4, 1, 0, 0.45, 0.25, 0.75, 0.125, 0, 0.0625},
          .weights = {2, 0.5, 0}};
}
TargetProblem with_mixed() { return {.mixed = {1, 0.25, 3, 0.375, -1, 0}}; }
TargetProblem with_weighted_mixed() {
  return {.weights = {1, 3, 0.5}, .mixed = {1, 0.25, 3, 0.375, 0, 0.5}};
}

}  // namespace

TEST_CASE("a position's loss is a sample's divided by their number, or multiplied by its weight") {
  for (const auto& op : all_losses()) {
    CAPTURE(op->type());
    const TargetProblem problem;
    const std::vector<double> of_samples = run_loss(*op, problem, Pass::forward_train);
    const std::vector<double> slopes = run_loss(*op, problem, Pass::backward_data);
    // The same rows as three positions of one sample, [1, 4, 1, 3].
    const StoredLayout sequence{"", row_layout({1, 4, 1, 3})}, list{"", plain_layout({1, 3})};
    const auto run = [&](const std::vector<double>& weights, Pass pass) {
      Tensor<double> x({"", plain_layout({3, 4})}, problem.outputs), dx({"", plain_layout({3, 4})});
      Tensor<double> losses({"", plain_layout({3})});
      Tensor<std::int32_t> labels(list, problem.labels);
      Tensor<float> weight(list, or_zero(weights));
      StepTensors tensors{.inputs = {x.view(), labels.view()}, .outputs = {losses.view()}};
      if (!weights.empty()) tensors.inputs.push_back(weight.view());
      tensors.inputs[0].layout = sequence.layout;
      tensors.input_gradients = {dx.view(), {}, {}};
      tensors.input_gradients[0].layout = sequence.layout;
      tensors.output_gradients = {TensorView{}};
      StepState state = problem.state;
      state.valid = 1;
      tensors.batch.state = &state;
      test::run(*op, pass, DType::f64, tensors, 2);
      return pass == Pass::backward_data ? dx.elements() : losses.elements();
    };
    const auto scaled = [](std::vector<double> rows, const std::vector<double>& by) {
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= by[i * by.size() / rows.size()];
      return rows;
    };
    const auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
      REQUIRE(a.size() == b.size());
      for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]));
    };
    const std::vector<double> third(3, 1.0 / 3), weights{2, 0, 0.5};
    near(run({}, Pass::forward_train), scaled(of_samples, third));
    near(run({}, Pass::backward_data), scaled(slopes, third));
    near(run(weights, Pass::forward_train), scaled(of_samples, weights));
    near(run(weights, Pass::backward_data), scaled(slopes, weights));
  }
}

TEST_CASE("a weight multiplies a sample's loss, and 0 takes it out whatever it holds") {
  for (const auto& op : all_losses()) {
    CAPTURE(op->type());
    TargetProblem problem;
    const std::vector<double> plain = run_loss(*op, problem, Pass::forward_train);
    const std::vector<double> slope = run_loss(*op, problem, Pass::backward_data);
    problem.weights = {2, 0.5, 0};
    problem.outputs[8] = std::nan("");
    problem.labels[2] = -1;
    const std::vector<double> weighted = run_loss(*op, problem, Pass::forward_train);
    CHECK(weighted == std::vector<double>{2 * plain[0], 0.5 * plain[1], 0});
    const std::vector<double> dx = run_loss(*op, problem, Pass::backward_data);
    for (std::size_t i = 0; i < 12; ++i) {
      CHECK(dx[i] == doctest::Approx(slope[i] * problem.weights[i / 4]).epsilon(1e-15));
      if (i >= 8) CHECK(dx[i] == 0);
    }
  }
}

TEST_CASE("a dense one-hot target, and a mixture of equal classes, are a class") {
  TargetProblem dense, mixed;
  dense.dense = {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0};
  mixed.mixed = {2, 0.25, 0, 0.5, -1, 0};
  for (const auto& op : all_losses()) {
    CAPTURE(op->type());
    for (const Pass pass : {Pass::forward_train, Pass::backward_data}) {
      const std::vector<double> wanted = run_loss(*op, {}, pass);
      const std::vector<double> of_dense = run_loss(*op, dense, pass);
      const std::vector<double> of_mixed = run_loss(*op, mixed, pass);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        CHECK(std::abs(of_dense[i] - wanted[i]) <= 1e-14);
        CHECK(std::abs(of_mixed[i] - wanted[i]) <= 1e-14);
      }
    }
  }
}

TEST_CASE("cross-entropies of mixed targets are sums of those of the classes, by their shares") {
  const TargetProblem second{.labels = {1, 3, 0}};
  for (const LossKind& kind : loss_list()) {
    if (!kind.smooths) continue;
    const LossOp cross(kind.name, {.label_smoothing = 0.1});
    for (const Pass pass : {Pass::forward_train, Pass::backward_data}) {
      const std::vector<double> a = run_loss(cross, {}, pass), b = run_loss(cross, second, pass);
      const std::vector<double> plain = run_loss(cross, with_mixed(), pass);
      const std::vector<double> weighted = run_loss(cross, with_weighted_mixed(), pass);
      const std::vector<double> shares{0.25, 0.375, 0.5}, weights{1, 3, 0.5};
      for (std::size_t i = 0; i < a.size(); ++i) {
        const std::size_t row = i * 3 / a.size();
        const double sum = (1 - shares[row]) * a[i] + shares[row] * b[i];
        CHECK(std::abs(plain[i] - (row == 2 ? a[i] : sum)) <= 1e-14);
        CHECK(std::abs(weighted[i] - weights[row] * sum) <= 1e-14);
      }
    }
  }
}

TEST_CASE("gradients of all losses and targets match the derivatives of their values") {
  const double step = 1e-6;
  for (const auto& op : all_losses()) {
    for (const TargetProblem& problem :
         {TargetProblem{}, with_dense(), with_mixed(), with_weighted_mixed()}) {
      CAPTURE(op->type());
      const std::vector<double> dx = run_loss(*op, problem, Pass::backward_data);
      for (std::size_t i = 0; i < 12; ++i) {
        TargetProblem above = problem, below = problem;
        above.outputs[i] += step;
        below.outputs[i] -= step;
        const double high = run_loss(*op, above, Pass::forward_train)[i / 4];
        const double low = run_loss(*op, below, Pass::forward_train)[i / 4];
        // Rounding of losses below 16: 16 * 2^-53 / 1e-6 = 2e-9.
        CHECK(std::abs(dx[i] - (high - low) / (2 * step) * 0.5) <= 1e-8);
      }
    }
  }
}

TEST_CASE("an arriving gradient takes the place of the state's scale") {
  const auto losses = all_losses();
  TargetProblem problem;
  const std::vector<double> root = run_loss(*losses[0], problem, Pass::backward_data);
  problem.arriving = {0.25, 1, -2};
  const std::vector<double> inner = run_loss(*losses[0], problem, Pass::backward_data);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(inner[i] == doctest::Approx(root[i] * 2 * problem.arriving[i / 4]).epsilon(1e-15));
  }
}

TEST_CASE("cosine of zeros is 0, as by Keras's l2_normalize, and pulls towards the target") {
  const auto losses = all_losses();
  const auto cosine =
      std::ranges::find(losses, "cosine", [](const auto& op) { return op->type(); });
  REQUIRE(cosine != losses.end());
  // Rows of zeros, of a square below 1e-12, and of zeros as the target.
  TargetProblem problem{.outputs = {0, 0, 0, 0, 0, 1e-7, 0, 0, 1, 2, 3, 4},
                        .dense = {0, 0, 3, 4, 0, 1, 0, 0, 0, 0, 0, 0}};
  const std::vector<double> values = run_loss(**cosine, problem, Pass::forward_train);
  CHECK(values[0] == 0);
  CHECK(values[1] == doctest::Approx(-0.1).epsilon(1e-12));  // -1e-7 / 1e-6
  CHECK(values[2] == 0);
  const std::vector<double> dx = run_loss(**cosine, problem, Pass::backward_data);
  CHECK(dx[2] == doctest::Approx(-0.5 * 0.6e6).epsilon(1e-12));  // scale * -t / (|t| * 1e-6)
  CHECK(dx[3] == doctest::Approx(-0.5 * 0.8e6).epsilon(1e-12));
  CHECK(dx[5] == doctest::Approx(-0.5 * 1e6).epsilon(1e-12));
  for (std::size_t i = 8; i < 12; ++i) CHECK(dx[i] == 0);
}

TEST_CASE("the losses have the values of their formulas") {
  const std::vector<double> t = {0, 0, 1, 0};
  const std::vector<double> x = {0.5, 0.125, 0.75, 0.25};
  std::vector<double> wanted;
  const auto mean = [&](auto of) {
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) sum += of(x[c], t[c]);
    return sum / 4;
  };
  const auto hinge = [](double a, double b) { return std::max(1 - (2 * b - 1) * a, 0.0); };
  const double norm = std::sqrt(0.25 + 0.015625 + 0.5625 + 0.0625);
  const double clip = 1e-7;
  const std::vector<std::pair<std::string, double>> formulas = {
      {"mae", mean([](double a, double b) { return std::abs(a - b); })},
      {"huber", mean([](double a, double b) { return 0.5 * (a - b) * (a - b); })},
      {"logcosh", mean([](double a, double b) { return std::log(std::cosh(a - b)); })},
      {"hinge", mean(hinge)},
      {"squared_hinge", mean([&](double a, double b) { return hinge(a, b) * hinge(a, b); })},
      {"categorical_hinge", 1 + 0.5 - 0.75},
      {"kl", -std::log(0.75) + clip * (3 * std::log(clip) - std::log(0.5 * 0.125 * 0.25))},
      {"poisson", mean([](double a, double b) { return a - b * std::log(a + 1e-7); })},
      {"cosine", -0.75 / norm}};
  for (const auto& op : all_losses()) {
    for (const auto& [name, value] : formulas) {
      if (op->type() != name) continue;
      CAPTURE(name);
      CHECK(run_loss(*op, {}, Pass::forward_eval)[0] == doctest::Approx(value).epsilon(1e-14));
      wanted.push_back(value);
    }
  }
  CHECK(wanted.size() == formulas.size());
  TargetProblem far;
  far.outputs[0] = -3;
  for (const auto& op : all_losses()) {
    if (op->type() != "huber") continue;
    CHECK(run_loss(*op, far, Pass::forward_eval)[0] ==
          (2.5 + 0.5 * (0.015625 + 0.0625 + 0.0625)) / 4);
  }
}

TEST_CASE("losses are flat beyond their margins and outside the probabilities") {
  // The outputs, the loss and its gradients of the first sample.
  const struct {
    const char* name;
    std::vector<double> outputs, dense;
    double loss;
    std::vector<double> slopes;
  } cases[] = {{"hinge", {-3, 2, 0.5, -0.5}, {0, 1, 1, 0}, 0.25, {0, 0, -0.25, 0.25}},
               {"squared_hinge", {-3, 2, 0.5, -0.5}, {0, 1, 1, 0}, 0.125, {0, 0, -0.25, 0.25}},
               {"categorical_hinge", {0.5, -1, 3, 0.25}, {0, 0, 1, 0}, 0, {0, 0, 0, 0}},
               {"categorical_hinge", {2.5, -1, 3, 0.25}, {0, 0, 1, 0}, 0.5, {1, 0, -1, 0}},
               {"huber", {-3, 4, 0.5, 0}, {0, 1, 1, 0}, 5.125 / 4, {-0.25, 0.25, -0.125, 0}},
               {"kl", {2, 1, 0.5, -1}, {1, 2, 1, 1}, std::log(2) - std::log(1e-7), {0, -1, -2, 0}}};
  const auto losses = all_losses();
  for (const auto& [name, outputs, dense, loss, slopes] : cases) {
    CAPTURE(name);
    const auto op = std::ranges::find(losses, name, [](const auto& each) { return each->type(); });
    REQUIRE(op != losses.end());
    TargetProblem problem{.dense = std::vector<double>(12)};
    std::ranges::copy(outputs, problem.outputs.begin());
    std::ranges::copy(dense, problem.dense.begin());
    problem.state.gradient_scale = 1;
    CHECK(run_loss(**op, problem, Pass::forward_train)[0] == doctest::Approx(loss).epsilon(1e-14));
    const std::vector<double> dx = run_loss(**op, problem, Pass::backward_data);
    for (std::size_t i = 0; i < 4; ++i) CHECK(dx[i] == slopes[i]);
  }
}

TEST_CASE("logcosh keeps its digits in float32, near 0 and where its two formulas meet") {
  for (const float d : {1e-15f, 3e-8f, 1e-6f, -2e-4f, 0.01f, -0.3f, 0.999f, 1.0f, 1.001f, -7.f}) {
    CAPTURE(d);
    const double half = std::sinh(static_cast<double>(d) / 2);
    const double exact = std::log1p(2 * half * half);
    CHECK(std::abs(LogCosh::value(d, 0.0f) - exact) <= 1e-6 * exact);
  }
  CHECK(LogCosh::value(0.5f, 0.5f) == 0);
}

TEST_CASE("loss_sum adds losses with their weights, and gives each its weight as gradient") {
  const LossSumOp op({1, 0.25});
  CHECK(op.attributes() == "{weights: [1, 0.25]}");
  const StoredLayout list{"", plain_layout({3})};
  Tensor<double> a(list, {1, 2, 3}), b(list, {4, -8, 0}), sum(list), da(list), db(list);
  const StepState state{.gradient_scale = 0.5, .valid = 3};
  StepTensors tensors{.inputs = {a.view(), b.view()}, .outputs = {sum.view()}};
  tensors.input_gradients = {da.view(), db.view()};
  tensors.output_gradients = {TensorView{}};
  tensors.batch.state = &state;
  test::run(op, Pass::forward_train, DType::f64, tensors, 1);
  CHECK(sum.elements() == std::vector<double>{2, 0, 3});
  test::run(op, Pass::backward_data, DType::f64, tensors, 1);
  CHECK(da.elements() == std::vector<double>{0.5, 0.5, 0.5});
  CHECK(db.elements() == std::vector<double>{0.125, 0.125, 0.125});
}

}  // namespace trainyard
