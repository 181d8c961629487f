// Gradients of every case against central differences, in double on the reference device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "case_check.h"

namespace trainyard::op_tests {
namespace {

constexpr std::size_t kElementsPerTensor = 24;  // per tensor: enough to cover every path
constexpr double kStep = 1e-4;
constexpr double kEps = 2.2e-16;

/// Differences of J = sum of g_i y_i. For losses, which begin the backward pass, g is the step
/// state's gradient scale.
class Differences {
 public:
  Differences(const OpCase& op_case, const ExecutorFactory& factory)
      : case_(op_case), values_(draw_values(op_case, DType::f64)), bound_(op_case, factory, {}) {
    bound_.load(values_);
  }
  [[nodiscard]] CaseResults analytic() {
    bound_.forward();
    bound_.backward();
    return bound_.results();
  }
  /// (J(x + h) - J(x - h)) / 2h.
  double slope(TestTensor& tensor, std::size_t index, double value, double h) {
    tensor.write_element(index, value + h);
    const Values up = objective_terms();
    tensor.write_element(index, value - h);
    const Values down = objective_terms();
    tensor.write_element(index, value);
    double difference = 0;
    for (std::size_t i = 0; i < up.size(); ++i) difference += up[i] - down[i];
    return difference / (2 * h);
  }
  /// Rounding of a slope: each term is rounded once or a few times by eps, and divided by 2h.
  [[nodiscard]] double rounding(double h) {
    double sum = 0;
    for (const double term : objective_terms()) sum += std::abs(term);
    return 64 * kEps * (sum + 1) / h;
  }
  BoundCase& bound() { return bound_; }
  [[nodiscard]] const CaseValues& values() const { return values_; }

 private:
  Values objective_terms() {
    bound_.forward();
    Values terms = bound_.outputs()[0].read();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      terms[i] *= case_.is_loss ? 0.25 : values_.output_gradients[0][i];
    }
    return terms;
  }

  const OpCase& case_;
  CaseValues values_;
  BoundCase bound_;
};

struct Tally {
  int compared = 0;
  int kinks = 0;
};

/// Compares some elements of one tensor's gradient. Where the slope changes between steps h and 2h
/// by more than a smooth function's would, a kink (ReLU, a maximum) is near: the element is skipped
/// and counted.
void compare(Differences& differences, TestTensor& tensor, const Values& values,
             const Values& gradient, Tally& tally) {
  const double rounding = differences.rounding(kStep);
  const std::size_t count = std::min(kElementsPerTensor, values.size());
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t index = k * values.size() / count;
    const double narrow = differences.slope(tensor, index, values[index], kStep);
    const double wide = differences.slope(tensor, index, values[index], 2 * kStep);
    // The error of a difference grows with h^2: that of `narrow` is a third of this.
    const double truncation = std::abs(wide - narrow);
    if (truncation > 1e-5 * (1 + std::abs(narrow))) {
      ++tally.kinks;
      continue;
    }
    ++tally.compared;
    CAPTURE(index);
    CHECK(std::abs(gradient[index] - narrow) <= truncation + rounding);
  }
}

void check_gradient(const OpCase& op_case, const ExecutorFactory& factory) {
  CAPTURE(op_case.name);
  Differences differences(op_case, factory);
  const CaseResults analytic = differences.analytic();
  Tally tally;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    if (!op_case.has_gradient(i)) continue;
    CAPTURE(i);
    compare(differences, differences.bound().input(i), differences.values().inputs[i],
            analytic.input_gradients[i], tally);
  }
  for (std::size_t i = 0; i < op_case.signature.parameters.size(); ++i) {
    CAPTURE(op_case.signature.parameters[i].name);
    compare(differences, differences.bound().parameter(i), differences.values().parameters[i],
            analytic.parameter_gradients[i], tally);
  }
  CHECK_MESSAGE(tally.compared >= 4 * tally.kinks, op_case.name, ": too many kinks");
}

}  // namespace

TEST_CASE("gradients of every case equal central differences") {
  const auto factory = make_reference_executors();
  for (const OpCase& op_case : load_all_cases()) {
    // Steps of 1e-4 leave no precision at values of 1e-6; those cases test values.
    if (!op_case.has_backward || op_case.values == InputValues::near_zero) continue;
    check_gradient(op_case, *factory);
  }
}

}  // namespace trainyard::op_tests
