// The rules that every plan must obey, checked on the plan as data.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace trainyard::test {

/// The errors of a completed plan: layouts and padding that are not the target's, wrong types or
/// sizes, offsets misaligned or outside their arena, totals that do not match the tensors, tensors
/// that are live at the same time in the same bytes, reads of unwritten data, workspaces above the
/// cap. Each names the step or tensor. Empty: no errors.
[[nodiscard]] std::vector<std::string> faults_of(const Plan& plan);

}  // namespace trainyard::test
