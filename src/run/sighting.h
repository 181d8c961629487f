// What another process can see of a run: its status, and whether the process that writes it lives.
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
  bool locked = false;     // a process writes into the folder
  bool here = false;       // the run is of this machine
  bool stopped = false;    // its process is stopped by a signal; seen on this machine only
  bool resumable = false;  // the folder holds what a resume wants
};

/// Looks, and changes nothing. Throws Error{command_line} if `folder` holds no status.json that can
/// be read, Error{disk} if its lock cannot be looked at.
[[nodiscard]] RunSighting look_at_run(const std::filesystem::path& folder, const Clock& clock);

}  // namespace trainyard
