// Whether NCCL finds the shared memory that it needs: plain data, no NCCL here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace trainyard {

/// The ranks of one host.
struct NcclHost {
  int ranks = 1;
  bool direct = true;  // their GPUs are known to read each other's memory (P2P)
  std::optional<std::size_t> shared_bytes = {};  // room in /dev/shm; empty: not known
};

/// A warning where sums of these ranks go through /dev/shm and it may be too small, with what makes
/// it larger; "" elsewhere.
[[nodiscard]] std::string shared_memory_warning(const NcclHost& host);

/// Bytes that are free in /dev/shm; empty where there is none.
[[nodiscard]] std::optional<std::size_t> free_shared_bytes();

}  // namespace trainyard
