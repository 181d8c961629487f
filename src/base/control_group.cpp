#include "base/control_group.h"

#include <algorithm>
#include <fstream>

#include "base/text.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// The limit of one group: time within a period, both in microseconds. No limit is "max" or -1.
std::optional<double> quota_of(const ControlGroup& group) {
  double time = 0, period = 0;
  if (group.version == 2) {
    std::ifstream both(group.folder / "cpu.max");
    both >> time >> period;
  } else {
    std::ifstream(group.folder / "cpu.cfs_quota_us") >> time;
    std::ifstream(group.folder / "cpu.cfs_period_us") >> period;
  }
  return time > 0 && period > 0 ? std::optional(time / period) : std::nullopt;
}

}  // namespace

std::vector<ControlGroup> control_groups(const std::string& controller, const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::vector<ControlGroup> groups;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts = split(line, ':');  // number, controllers, path
    if (parts.size() < 3) continue;
    const std::vector<std::string> controllers = split(parts[1], ',');
    const bool first = std::ranges::find(controllers, controller) != controllers.end();
    if (!first && !parts[1].empty()) continue;
    const fs::path top = root / "sys/fs/cgroup" / (first ? controller : "");
    for (fs::path own = fs::path(parts[2]).relative_path();; own = own.parent_path()) {
      groups.push_back({own.empty() ? top : top / own, first ? 1 : 2});
      if (own.empty()) break;
    }
  }
  return groups;
}

std::optional<double> processor_quota(const fs::path& root) {
  std::optional<double> least;
  for (const ControlGroup& group : control_groups("cpu", root)) {
    const std::optional<double> one = quota_of(group);
    if (one) least = std::min(*one, least.value_or(*one));
  }
  return least;
}

int whole_cores(int allowed, std::optional<double> quota) {
  if (!quota || *quota >= allowed) return std::max(1, allowed);
  return std::max(1, static_cast<int>(*quota));
}

}  // namespace trainyard
