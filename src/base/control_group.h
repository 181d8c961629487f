// The control groups that a process is in, which limit what it may use of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// A folder that holds a group's files. Version 1 and 2 name them differently.
struct ControlGroup {
  std::filesystem::path folder;
  int version = 2;
};

/// The groups of this process that `controller` ("memory", "cpu") may limit, with those above them.
/// A container may see its own group as the root, under whatever name the host has for it. `root`
/// holds proc and sys/fs/cgroup.
[[nodiscard]] std::vector<ControlGroup> control_groups(const std::string& controller,
                                                       const std::filesystem::path& root);

/// Processors' worth of time that the groups leave this process at any moment, the least of them:
/// 1.5 for 150 ms in 100 ms. Empty: no limit.
[[nodiscard]] std::optional<double> processor_quota(const std::filesystem::path& root = "/");
/// The cores of `allowed` that a quota leaves, at least 1. A part of one is none: a team of one
/// thread more would be stopped in every period.
[[nodiscard]] int whole_cores(int allowed, std::optional<double> quota);

}  // namespace trainyard
