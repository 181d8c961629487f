// When a rank counts as stuck.
#pragma once

namespace trainyard {

/// How long ranks may take before they count as stuck, in seconds.
struct RankLimits {
  double first_step = 300;  // to appear, and from there to the end of the first update
  double step = 60;         // without progress later on, or 20 median updates if that is longer
  double silence = 30;      // without a sign of life
};

}  // namespace trainyard
