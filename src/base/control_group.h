// The control groups of this process, which limit its use of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// A folder with a group's files, which versions 1 and 2 name differently.
struct ControlGroup {
  std::filesystem::path folder;
  int version = 2;
};

/// The groups of this process that `controller` ("memory", "cpu") may limit, with their ancestors.
/// A container may see its own group as the root, under whatever name it has on the host. `root`
/// contains proc and sys/fs/cgroup.
[[nodiscard]] std::vector<ControlGroup> control_groups(const std::string& controller,
                                                       const std::filesystem::path& root);

/// Processors that the groups allow this process at any time, the smallest quota: 1.5 for 150 ms
/// per 100 ms. Empty: no limit.
[[nodiscard]] std::optional<double> processor_quota(const std::filesystem::path& root = "/");
/// The cores of `allowed` that a quota permits, at least 1. Fractions are dropped: a team with one
/// more thread would be throttled in every period.
[[nodiscard]] int whole_cores(int allowed, std::optional<double> quota);

}  // namespace trainyard
