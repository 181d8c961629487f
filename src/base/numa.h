// NUMA nodes: which processors are close to a device.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainyard {

/// The NUMA node of the PCI device at `bus` ("0000:17:00.0"); empty if the system does not report
/// it. `root` contains sys.
[[nodiscard]] std::optional<int> numa_node_of(const std::string& bus,
                                              const std::filesystem::path& root = "/");

/// Restricts the calling thread, and threads it starts later, to those processors of the node that
/// it may use; memory that they touch first is then on that node too. Does nothing on a machine
/// with one node. Returns why it could not, or "".
[[nodiscard]] std::string stay_on_node(int node, const std::filesystem::path& root = "/");

}  // namespace trainyard
