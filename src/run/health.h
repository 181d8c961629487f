// What can be seen of a run from another process, and what that means: `train doctor RUN`.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "base/filesystem.h"
#include "formats/json.h"
#include "report/status.h"

namespace trainyard {

/// A run as its folder and its process show it, and the verdict: whether it is working, hangs, is
/// dead or has ended.
struct RunHealth {
  fs::path folder;
  RunStatus status;
  std::int64_t now = 0;    // UTC seconds
  bool locked = false;     // a process is writing into the folder
  bool here = false;       // the run is on this machine
  bool stopped = false;    // its process is stopped by a signal; known on this machine only
  bool resumable = false;  // the folder contains what a resume needs
  std::string verdict;     // "working", "hangs", "dead", "complete", or the state in which it ended
  std::string reason;      // for the verdict, in words
  std::string advice;      // a command, or ""
  /// The run's own exit code once it has ended; 10 working, 11 hangs, 12 dead.
  int exit_code = 0;
};

/// Looks at a run, changes nothing, and judges. Throws Error{command_line} if `folder` contains no
/// readable status.json, Error{disk} if its lock cannot be examined.
[[nodiscard]] RunHealth look_at_run(const fs::path& folder, const Clock& clock);
/// The verdict on what was seen, and on nothing else.
[[nodiscard]] RunHealth judged(RunHealth seen);
/// For people: the verdict first.
[[nodiscard]] std::string health_text(const RunHealth& run);
/// The same for programs.
[[nodiscard]] Json health_json(const RunHealth& run);

}  // namespace trainyard
