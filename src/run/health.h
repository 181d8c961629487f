// `train doctor RUN`: whether a run is working, hangs, is dead or has ended.
#pragma once

#include <string>

#include "formats/json.h"
#include "run/sighting.h"

namespace trainyard {

struct RunHealth {
  std::string verdict;  // "working", "hangs", "dead", "complete", or the state in which it ended
  std::string reason;   // for the verdict, in words
  std::string advice;   // a command, or ""
  /// The run's own exit code once it has ended; 10 working, 11 hangs, 12 dead.
  int exit_code = 0;
};

/// Judges only by what was seen.
[[nodiscard]] RunHealth judge_run(const RunSighting& run);
/// For people: the verdict first.
[[nodiscard]] std::string health_text(const RunSighting& run, const RunHealth& health);
/// The same for programs.
[[nodiscard]] Json health_json(const RunSighting& run, const RunHealth& health);

}  // namespace trainyard
