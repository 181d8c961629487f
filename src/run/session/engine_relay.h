// How the ranks of a run get the same engines: rank 0 chooses, the others wait.
#pragma once

#include <string>

#include "base/clock.h"
#include "ranks/rank_group.h"

namespace trainyard {

/// Choosing may take minutes, longer than a call of the others may wait: rank 0 notifies them
/// meanwhile, and each notification restarts their wait.
class EngineRelay {
 public:
  /// `seconds` between two notifications, well below the limit of a call. Ranks and clock outlive
  /// it.
  EngineRelay(RankGroup& ranks, const Clock& clock, double seconds);

  /// On every rank while engines are chosen or made, any number of times: the watchdog sees
  /// progress. On rank 0 it also notifies the others when it is time.
  void tick();
  /// Rank 0, once: sends the choices to the others (ExecutorFactory::choices()).
  void give(const std::string& choices);
  /// The others, once: the choices of rank 0.
  [[nodiscard]] std::string take();

 private:
  RankGroup& ranks_;
  const Clock& clock_;
  double seconds_;
  double told_;  // when the others were last notified, on the clock
  bool given_ = false;
};

}  // namespace trainyard
