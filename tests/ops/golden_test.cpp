// Layers against PyTorch in float64 (scripts/make_layer_goldens.py), on the reference device in
// double. The file stores two projections of each result onto noise.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "base/philox.h"
#include "case_check.h"

namespace trainyard::op_tests {
namespace {

/// [-1, 1) on a grid of 2^-23, the same values as in the script.
double noise(const std::string& name, std::size_t index) {
  const Random4 draw = philox(key_of(name), 0, static_cast<std::uint32_t>(index), 0, 0, 0);
  return (draw.word[0] >> 8) * 0x1p-23 - 1;
}

Values noise_values(const std::string& name, const Shape& shape, double factor = 1,
                    double centre = 0) {
  Values values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = noise(name, i) * factor + centre;
  return values;
}

Values label_values(const OpCase& op_case) {
  const double classes = static_cast<double>(std::max<std::int64_t>(op_case.inputs[0].c(), 2));
  Values labels = noise_values("labels", op_case.inputs[1]);
  for (double& label : labels) label = std::floor((label + 1) / 2 * classes);
  return labels;
}

CaseValues golden_values(const OpCase& op_case) {
  const double factor = op_case.golden.find("factor")->real;
  CaseValues values;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    values.inputs.push_back(
        op_case.types[i] == DType::i32
            ? label_values(op_case)
            : noise_values("input" + std::to_string(i), op_case.inputs[i], factor));
  }
  for (const ParameterSpec& spec : op_case.signature.parameters) {
    const bool gamma = spec.group == ParameterGroup::gamma;
    values.parameters.push_back(
        noise_values(spec.name, spec.shape, gamma ? 0.25 : 1, gamma ? 1 : 0));
  }
  for (const StatisticSpec& spec : op_case.signature.statistics) {
    const bool variance = spec.name == "running_var";
    values.running.push_back(
        noise_values(spec.name, spec.shape, variance ? 0.5 : 1, variance ? 1 : 0));
  }
  values.output_gradients = {noise_values("output_gradient0", op_case.signature.outputs[0])};
  return values;
}

/// As the program updates them after a step.
std::vector<Values> running_after(const OpCase& op_case, const CaseValues& values,
                                  const CaseResults& results) {
  std::vector<Values> running = values.running;
  for (std::size_t s = 0; s < running.size(); ++s) {
    const StatisticSpec& spec = op_case.signature.statistics[s];
    for (std::size_t c = 0; c < running[s].size(); ++c) {
      running[s][c] = spec.momentum * running[s][c] +
                      (1 - spec.momentum) * spec.batch_scale * results.statistics[s][c];
    }
  }
  return running;
}

/// Both sums have at most a few thousand rounded terms, each the end of a computation with some
/// dozens of roundings: 6 sqrt(5000) * 50 * 1.1e-16 < 3e-12 of the sum of |terms|.
void compare(const std::vector<Values>& found, const config::Node& expected, const char* what) {
  CAPTURE(what);
  REQUIRE(found.size() == expected.items.size());
  for (std::size_t t = 0; t < found.size(); ++t) {
    for (std::size_t k = 0; k < 2; ++k) {
      double sum = 0, size = 0;
      for (std::size_t i = 0; i < found[t].size(); ++i) {
        const double term = found[t][i] * noise("projection" + std::to_string(k), i);
        sum += term;
        size += std::abs(term);
      }
      CAPTURE(t);
      CHECK(std::abs(sum - expected.items[t].items[k].real) <= 3e-12 * size);
    }
  }
}

void check_golden(const OpCase& op_case, const ExecutorFactory& factory) {
  CAPTURE(op_case.name);
  const CaseValues values = golden_values(op_case);
  BoundCase bound(op_case, factory, {});
  bound.load(values);
  bound.forward();
  bound.evaluate();
  bound.backward();
  CaseResults results = bound.results();
  // Labels and tokens have none.
  if (op_case.types.back() == DType::i32) results.input_gradients.pop_back();
  compare(results.outputs, *op_case.golden.find("outputs"), "outputs");
  compare(results.evaluated, *op_case.golden.find("evaluated"), "evaluation");
  compare(running_after(op_case, values, results), *op_case.golden.find("running"), "running");
  compare(results.input_gradients, *op_case.golden.find("input_gradients"), "input gradients");
  compare(results.parameter_gradients, *op_case.golden.find("parameter_gradients"),
          "parameter gradients");
}

}  // namespace

TEST_CASE("layers give PyTorch's values and gradients in double") {
  const auto factory = make_reference_executors();
  const std::vector<OpCase> cases = load_cases("golden/layers.yaml");
  CHECK(cases.size() == 109);
  for (const OpCase& op_case : cases) check_golden(op_case, *factory);
}

}  // namespace trainyard::op_tests
