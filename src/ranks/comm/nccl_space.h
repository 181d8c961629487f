// Whether there is enough shared memory for NCCL: plain data, no NCCL here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace trainyard {

/// The ranks of one host.
struct NcclHost {
  int ranks = 1;
  bool direct = true;  // their GPUs are known to read each other's memory (P2P)
  std::optional<std::size_t> shared_bytes = {};  // free in /dev/shm; empty: unknown
};

/// A warning if sums of these ranks go through /dev/shm and it may be too small, with how to
/// enlarge it; else "".
[[nodiscard]] std::string shared_memory_warning(const NcclHost& host);

/// Free bytes in /dev/shm; empty if there is none.
[[nodiscard]] std::optional<std::size_t> free_shared_bytes();

}  // namespace trainyard
