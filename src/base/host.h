// This host: its name and processor, how much more memory this process can allocate, the control
// groups that limit it, and which processors are close to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/filesystem.h"

namespace trainyard {

/// A folder with a group's files, which versions 1 and 2 name differently.
struct ControlGroup {
  fs::path folder;
  int version = 2;
};

/// Processors that the groups allow this process at any time, the smallest quota: 1.5 for 150 ms
/// per 100 ms. Empty: no limit.
[[nodiscard]] std::optional<double> processor_quota(const fs::path& root = "/");
/// The cores of `allowed` that a quota permits, at least 1. Fractions are dropped: a team with one
/// more thread would be throttled in every period.
[[nodiscard]] int whole_cores(int allowed, std::optional<double> quota);

struct FreeMemory {
  std::size_t bytes = 0;  // 0: unknown
  std::string bound;      // what sets the limit, for messages: "the machine's memory"
};

/// Bytes of address space that a process may use (RLIMIT_AS); UINT64_MAX: no limit.
[[nodiscard]] std::uint64_t address_space_limit();

/// The least of: what the machine has available, what the control groups of this process (version 1
/// or 2, with their ancestors) leave, and what `address_space` leaves. `root` contains proc and
/// sys/fs/cgroup.
[[nodiscard]] FreeMemory free_host_memory(const fs::path& root = "/",
                                          std::uint64_t address_space = address_space_limit());

/// The system's host name, for messages and records; "" if it has none.
[[nodiscard]] std::string host_name();
/// The model of its processor, "AMD EPYC 9R14"; "" if /proc/cpuinfo does not name it.
[[nodiscard]] std::string processor_name();

/// The NUMA node of the PCI device at `bus` ("0000:17:00.0"); empty if the system does not report
/// it. `root` contains sys.
[[nodiscard]] std::optional<int> numa_node_of(const std::string& bus, const fs::path& root = "/");

/// Restricts the calling thread, and threads it starts later, to those processors of the node that
/// it may use; memory that they touch first is then on that node too. Does nothing on a machine
/// with one node. Returns why it could not, or "".
[[nodiscard]] std::string stay_on_node(int node, const fs::path& root = "/");

}  // namespace trainyard
