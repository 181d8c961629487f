// What must hold for every plan, checked on the plan as data.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace trainyard::test {

/// What is wrong with a completed plan: layouts and padding that are not the target's, wrong types
/// or sizes, offsets off alignment or outside their arena, totals that are not what the tensors
/// take, tensors that live at the same time in the same bytes, reads of what was not written,
/// workspaces above the cap. A finding names the step or tensor. Empty: all is well.
[[nodiscard]] std::vector<std::string> faults_of(const Plan& plan);

}  // namespace trainyard::test
