// Every case on every device: values against the reference in double, and variations that must be
// bit-identical.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "case_check.h"
#include "devices.h"
#include "ops/loss.h"
#include "ops/metric.h"
#include "tolerance.h"

namespace trainyard::op_tests {
namespace {

/// Bit-identical when repeated, from stale memory, with another thread count, in place.
void check_bits(const OpCase& op_case, const DeviceUnderTest& device, const LayoutChoice& layouts,
                const CaseResults& expected) {
  const auto factory = device.make();
  const BindOptions options{.type = device.type,
                            .layouts = layouts,
                            .threads = 1,
                            .in_place = false,
                            .needs_gradients = {}};
  BoundCase bound(op_case, *factory, options);
  const CaseValues values = draw_values(op_case, device.type);
  static_cast<void>(run_all(bound, op_case, draw_values(op_case, device.type, 2)));
  CHECK_MESSAGE(run_all(bound, op_case, values) == expected,
                "a second run, after another batch, changes bits");
  BindOptions changed = options;
  changed.in_place = true;
  CHECK_MESSAGE(run_once(op_case, *factory, changed, values) == expected, "in place changes bits");
  if (device.threads_change_bits) return;
  changed = options;
  changed.threads = 2;
  CHECK_MESSAGE(run_once(op_case, *factory, changed, values) == expected,
                "two threads change bits");
}

/// Leaving out an unused input gradient changes no other result.
void check_unwanted(const OpCase& op_case, const DeviceUnderTest& device,
                    const LayoutChoice& layouts, const CaseResults& expected) {
  const Contract contract = op_case.op->contract();
  const bool many = op_case.inputs.size() > 1 && !op_case.is_loss;
  if (!op_case.has_backward || !(contract.synced_backward || many)) return;
  const auto factory = device.make();
  BindOptions options{.type = device.type,
                      .layouts = layouts,
                      .threads = 1,
                      .in_place = false,
                      .needs_gradients = {}};
  for (std::size_t input = 0; input < op_case.inputs.size(); ++input) {
    options.needs_gradients.assign(op_case.inputs.size(), true);
    options.needs_gradients[input] = false;
    CaseResults partial = run_once(op_case, *factory, options, draw_values(op_case, device.type));
    CHECK(partial.input_gradients[input].empty());
    partial.input_gradients[input] = expected.input_gradients[input];
    CHECK_MESSAGE(partial == expected, "an unwanted gradient changes other results");
  }
}

void check_case(const OpCase& op_case, const DeviceUnderTest& device) {
  CAPTURE(device.name);
  CAPTURE(op_case.name);
  const auto yardstick = make_reference_executors();
  const CaseValues values = draw_values(op_case, device.type);
  const CaseResults reference = run_once(op_case, *yardstick, {}, values);
  const Tolerances allowed =
      tolerances(op_case, values, reference, device.type, device.extra_roundings);
  const auto factory = device.make();
  for (const LayoutChoice& layouts : layouts_for(op_case, device)) {
    CAPTURE(layouts.input_block);
    CAPTURE(layouts.output_block);
    CAPTURE(layouts.channels_last);
    const BindOptions options{.type = device.type,
                              .layouts = layouts,
                              .threads = 1,
                              .in_place = false,
                              .needs_gradients = {}};
    const CaseResults results = run_once(op_case, *factory, options, values);
    compare_all(results, reference, allowed, op_case);
    check_bits(op_case, device, layouts, results);
    check_unwanted(op_case, device, layouts, results);
  }
}

}  // namespace

TEST_CASE("every device matches the reference, bit-identical however it is run") {
  for (const DeviceUnderTest& device : devices_under_test()) {
    for (const OpCase& op_case : load_all_cases()) {
      if (serves(device, op_case)) check_case(op_case, device);
    }
  }
}

TEST_CASE("every op, loss and metric of the lists has a case") {
  std::set<std::string_view> covered;
  const std::vector<OpCase> cases = load_all_cases();
  for (const OpCase& op_case : cases) covered.insert(op_case.op->type());
  const auto check = [&](const auto& kinds) {
    for (const auto& kind : kinds) CHECK_MESSAGE(covered.contains(kind.name), kind.name);
  };
  check(op_kinds());
  check(loss_kinds());
  for (const auto& kind : metric_kinds()) {
    config::Fields fields(config::Profile::keras2);
    const auto metric = kind.read(fields);
    // A metric of a split computes nothing on a device.
    if (!metric->of_split()) CHECK_MESSAGE(covered.contains(metric->type()), kind.name);
  }
}

TEST_CASE("another seed gives other results, so the comparisons are not vacuous") {
  const auto factory = make_reference_executors();
  for (const OpCase& op_case : load_all_cases()) {
    if (!op_case.has_backward) continue;
    CAPTURE(op_case.name);
    BoundCase bound(op_case, *factory, {});
    const CaseResults one = run_all(bound, op_case, draw_values(op_case, DType::f64, 1));
    const CaseResults two = run_all(bound, op_case, draw_values(op_case, DType::f64, 2));
    CHECK(one.outputs != two.outputs);
    const bool tokens = op_case.op->contract().vocabulary > 0;  // which have no gradient
    CHECK((tokens ? one.parameter_gradients != two.parameter_gradients
                  : one.input_gradients != two.input_gradients));
  }
}

}  // namespace trainyard::op_tests
