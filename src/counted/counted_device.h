// The device of a GPU that counts: its memory is addresses that nothing may read, its queue adds
// copies and fills to a log.
#pragma once

#include <memory>
#include <vector>

#include "counted/launch_log.h"
#include "device/device.h"

namespace trainyard::counted {

/// Where a device keeps what was recorded last.
using LastRecording = std::vector<Launch>;

/// Records as a GPU does: what is recorded is not run, and a replay adds nothing to the log. Copies
/// to the host give zeros. Log and recording must outlive it.
[[nodiscard]] std::unique_ptr<Device> make_counted_device(LaunchLog& log, LastRecording& last);

}  // namespace trainyard::counted
