// When a rank counts as stuck.
#pragma once

namespace trainyard {

/// How long ranks may take before they count as stuck, in seconds.
struct RankLimits {
  double first_step = 300;  // to appear, and from then to the end of the first step
  double step = 60;         // without progress later, or 20 median steps if that is longer
  double silence = 30;      // without a heartbeat
};

}  // namespace trainyard
