// NUMA nodes: which processors are near a device.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainyard {

/// The NUMA node of the PCI device at `bus` ("0000:17:00.0"); empty where the system does not say.
/// `root` holds sys.
[[nodiscard]] std::optional<int> numa_node_of(const std::string& bus,
                                              const std::filesystem::path& root = "/");

/// Lets the calling thread, and those that it starts from then on, run on processors of the node
/// alone, of those that it may use; memory that they touch first then lies there too. Does nothing
/// on a machine of one node. Returns why it could not, or "".
[[nodiscard]] std::string stay_on_node(int node, const std::filesystem::path& root = "/");

}  // namespace trainyard
