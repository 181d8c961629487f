// How much of the host's memory this process may still take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace trainyard {

struct FreeMemory {
  std::size_t bytes = 0;  // 0: not known
  std::string bound;      // what sets the bound, as a message has it: "the machine's memory"
};

/// Bytes of address space that a process may have (RLIMIT_AS); UINT64_MAX: no limit.
[[nodiscard]] std::uint64_t address_space_limit();

/// The least of what the machine has available, what the control groups of this process (version 1
/// or 2, with the groups above them) leave it, and what `address_space` leaves it. `root` holds
/// proc and sys/fs/cgroup.
[[nodiscard]] FreeMemory free_host_memory(const std::filesystem::path& root = "/",
                                          std::uint64_t address_space = address_space_limit());

}  // namespace trainyard
