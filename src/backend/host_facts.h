// What limits a process on this machine, besides its processors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/host.h"
#include "formats/json.h"

namespace trainyard {

struct HostFacts {
  FreeMemory memory;
  std::optional<double> processor_quota;    // of control groups, in processors; empty: none
  std::optional<std::size_t> shared_bytes;  // size of /dev/shm, which ranks and NCCL share; empty:
                                            // it does not exist
  std::optional<std::uint64_t> locked_bytes;  // lockable, as pinned memory for networks is; empty:
                                              // no limit
};

/// `root` contains proc, sys and dev.
[[nodiscard]] HostFacts look_at_host(const std::filesystem::path& root = "/");
/// For people, in one line.
[[nodiscard]] std::string host_text(const HostFacts& host);
[[nodiscard]] Json host_json(const HostFacts& host);

}  // namespace trainyard
