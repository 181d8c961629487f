// Concatenations without copies: branches are written straight into their slice.
#pragma once

#include "plan/layouts.h"

namespace trainyard {

/// Fills `laid_out.slices` and gives the sliced values their layouts. Expects every value to have
/// its own memory. Either all branches of a concatenation are sliced, or none.
void slice_concatenations(LaidOutGraph& laid_out, const Target& target);

}  // namespace trainyard
