#include "ranks/comm/nccl_space.h"

#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace trainyard {
namespace {

// A segment of NCCL 2.28 with its default buffers, as its messages name it; a rank makes one for
// each channel (at least 2) of its ring and of its tree.
constexpr std::size_t kSegmentBytes = 9'637'888, kSegmentsOfRank = 4;

}  // namespace

std::string shared_memory_warning(const NcclHost& host) {
  if (host.ranks < 2 || host.direct || !host.shared_bytes) return "";
  const std::size_t needed = static_cast<std::size_t>(host.ranks) * kSegmentsOfRank * kSegmentBytes;
  if (*host.shared_bytes >= needed) return "";
  return "NCCL goes through /dev/shm if GPUs cannot read each other's memory (P2P), which may be "
         "the case on this machine; it has " +
         memory_text(*host.shared_bytes) + " free; " + std::to_string(host.ranks) +
         " ranks need about " + memory_text(needed) +
         ": if NCCL fails, start the container with --shm-size=1g";
}

std::optional<std::size_t> free_shared_bytes() {
  std::error_code problem;
  const auto space = std::filesystem::space("/dev/shm", problem);
  if (problem) return std::nullopt;
  return static_cast<std::size_t>(space.available);
}

}  // namespace trainyard
