#include "case_check.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace trainyard::op_tests {
namespace {

void compare(const std::vector<Values>& found, const std::vector<Values>& expected,
             const std::vector<double>& tolerances, const char* what) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t t = 0; t < found.size(); ++t) {
    REQUIRE(found[t].size() == expected[t].size());
    double worst = 0;
    for (std::size_t i = 0; i < found[t].size(); ++i) {
      const double error = std::abs(found[t][i] - expected[t][i]);
      if (!(error <= worst)) worst = error;  // keeps a NaN
    }
    CAPTURE(what);
    CAPTURE(t);
    CHECK(worst <= tolerances[t]);
  }
}

}  // namespace

CaseResults run_all(BoundCase& bound, const OpCase& op_case, const CaseValues& values) {
  bound.load(values);
  // Evaluation first: with in-place steps the forward pass overwrites the input.
  bound.evaluate();
  bound.forward();
  bound.recompute();
  if (op_case.has_backward) bound.backward();
  return bound.results();
}

CaseResults run_once(const OpCase& op_case, const ExecutorFactory& factory,
                     const BindOptions& options, const CaseValues& values) {
  BoundCase bound(op_case, factory, options);
  return run_all(bound, op_case, values);
}

void compare_all(const CaseResults& found, const CaseResults& expected,
                 const Tolerances& tolerances, const OpCase& op_case) {
  compare(found.outputs, expected.outputs, tolerances.outputs, "outputs");
  compare(found.statistics, expected.statistics, tolerances.statistics, "statistics");
  compare(found.evaluated, expected.evaluated, tolerances.evaluated, "evaluation");
  if (!op_case.has_backward) return;
  compare(found.input_gradients, expected.input_gradients, tolerances.input_gradients,
          "input gradients");
  compare(found.parameter_gradients, expected.parameter_gradients, tolerances.parameter_gradients,
          "parameter gradients");
}

std::vector<LayoutChoice> layouts_for(const OpCase& op_case, const DeviceUnderTest& device) {
  const Contract contract = op_case.op->contract();
  const auto is_map = [](const Shape& shape) { return shape.rank() == 4; };
  if (contract.layouts == Contract::Layouts::plain || contract.layouts == Contract::Layouts::rows ||
      std::ranges::none_of(op_case.inputs, is_map)) {
    return {device.layouts[0]};
  }
  // The planner gives residuals and slices only in whole blocks.
  const bool residual = op_case.op->type() == "bn" && op_case.inputs.size() > 1;
  std::vector<LayoutChoice> choices;
  for (const LayoutChoice& layout : device.layouts) {
    const bool same = layout.input_block == layout.output_block;
    if (contract.layouts == Contract::Layouts::same && !same) continue;
    const std::int64_t multiple =
        layout.channels_last ? 8 : std::max<std::int64_t>(layout.output_block, 1);
    const bool whole = op_case.signature.outputs[0].c() % multiple == 0;
    if (whole || !residual) choices.push_back(layout);
    if (!whole || !contract.can(Can::write_slices)) continue;
    choices.push_back(layout);
    choices.back().sliced = true;
  }
  return choices;
}

bool serves(const DeviceUnderTest& device, const OpCase& op_case) {
  return device.ops.empty() || std::ranges::count(device.ops, op_case.op->type()) > 0;
}

}  // namespace trainyard::op_tests
