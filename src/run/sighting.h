// What another process can see of a run: its status, and whether the process writing it is alive.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "report/status.h"

namespace trainyard {

struct RunSighting {
  std::filesystem::path folder;
  RunStatus status;
  std::int64_t now = 0;    // UTC seconds
  bool locked = false;     // a process is writing into the folder
  bool here = false;       // the run is on this machine
  bool stopped = false;    // its process is stopped by a signal; known on this machine only
  bool resumable = false;  // the folder contains what a resume needs
};

/// Looks at a run and changes nothing. Throws Error{command_line} if `folder` contains no readable
/// status.json, Error{disk} if its lock cannot be examined.
[[nodiscard]] RunSighting look_at_run(const std::filesystem::path& folder, const Clock& clock);

}  // namespace trainyard
