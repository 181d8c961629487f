// How the ranks of a run come to the same engines: rank 0 chooses, the others wait.
#pragma once

#include <string>

#include "base/clock.h"
#include "train/rank_group.h"

namespace trainyard {

/// Choosing may take minutes, longer than a call of the others may wait: rank 0 lets them hear of
/// it meanwhile, and each such word begins their wait anew.
class EngineRelay {
 public:
  /// `seconds` between two such words, well below the limit of a call. Ranks and clock outlive it.
  EngineRelay(RankGroup& ranks, const Clock& clock, double seconds);

  /// On every rank while engines are chosen or made, any number of times: the watchdog sees
  /// progress. On rank 0 also the word to the others, if it is time.
  void tick();
  /// Rank 0, once: gives the others what was chosen (ExecutorFactory::choices()).
  void give(const std::string& choices);
  /// The others, once: what rank 0 gives.
  [[nodiscard]] std::string take();

 private:
  RankGroup& ranks_;
  const Clock& clock_;
  double seconds_;
  double told_;  // when the others last heard, on the clock
  bool given_ = false;
};

}  // namespace trainyard
