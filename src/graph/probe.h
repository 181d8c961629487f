// Tests whether a function reports errors.
#pragma once

#include "config/diagnostics.h"

namespace trainyard {

/// Runs f(diagnostics); false if it reported an error, even at a position already reported (by an
/// earlier expansion of the same item). `f` must be repeatable.
template <class F>
[[nodiscard]] bool reports_nothing(config::Diagnostics& diagnostics, const F& f) {
  config::Diagnostics probe;
  f(probe);
  if (probe.empty()) return true;
  f(diagnostics);
  return false;
}

}  // namespace trainyard
