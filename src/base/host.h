// This host: its name, and how much more memory this process can allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace trainyard {

struct FreeMemory {
  std::size_t bytes = 0;  // 0: unknown
  std::string bound;      // what sets the limit, for messages: "the machine's memory"
};

/// Bytes of address space that a process may use (RLIMIT_AS); UINT64_MAX: no limit.
[[nodiscard]] std::uint64_t address_space_limit();

/// The least of: what the machine has available, what the control groups of this process (version 1
/// or 2, with their ancestors) leave, and what `address_space` leaves. `root` contains proc and
/// sys/fs/cgroup.
[[nodiscard]] FreeMemory free_host_memory(const std::filesystem::path& root = "/",
                                          std::uint64_t address_space = address_space_limit());

/// The system's host name, for messages and records; "" if it has none.
[[nodiscard]] std::string host_name();
/// The model of its processor, "AMD EPYC 9R14"; "" if /proc/cpuinfo does not name it.
[[nodiscard]] std::string processor_name();

}  // namespace trainyard
