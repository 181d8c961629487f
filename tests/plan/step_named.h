// A step of a plan by its name.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "plan/plan.h"

namespace trainyard::testing {

/// The first of this name, which the plan must have.
inline const PlanStep& step_named(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find_if(
      plan.steps, [&](const PlanStep& step) { return name_of(plan, step) == name; });
  REQUIRE(found != plan.steps.end());
  return *found;
}

/// Its place in the plan.
inline std::ptrdiff_t index_of(const Plan& plan, const std::string& name) {
  return &step_named(plan, name) - plan.steps.data();
}

}  // namespace trainyard::testing
