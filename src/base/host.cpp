#include "base/host.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>
#include <vector>

#include "base/text.h"

namespace trainyard {
namespace {

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

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The number after `word` in a file of words and numbers ("MemAvailable:  123 kB"), or the file's
/// first number if `word` is empty. Empty if there is none: "max" is not a number.
std::optional<std::uint64_t> number_in(const fs::path& path, const std::string& word = "") {
  std::ifstream file(path);
  std::string found;
  while (!word.empty() && file >> found && found != word) {
  }
  std::uint64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

std::uint64_t left(std::uint64_t limit, std::uint64_t used) {
  return limit > used ? limit - used : 0;
}

/// The file names of one version of control groups.
struct GroupFiles {
  const char* limit;
  const char* used;
  const char* reclaimable;  // a key of memory.stat
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                               "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

/// The memory left in one group; reclaimable file pages do not count as used.
std::optional<std::uint64_t> left_by_group(const fs::path& group, const GroupFiles& files) {
  const auto limit = number_in(group / files.limit);
  const auto used = number_in(group / files.used);
  if (!limit || !used) return std::nullopt;
  const auto reclaimable = number_in(group / "memory.stat", files.reclaimable).value_or(0);
  return left(*limit, left(*used, reclaimable));
}

/// The groups of this process that `controller` ("memory", "cpu") may limit, with their ancestors.
/// A container may see its own group as the root, under whatever name it has on the host. `root`
/// contains proc and sys/fs/cgroup.
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

/// The least memory left in any group of this process.
std::optional<std::uint64_t> left_by_own_groups(const fs::path& root) {
  std::optional<std::uint64_t> least;
  for (const ControlGroup& group : control_groups("memory", root)) {
    const auto one = left_by_group(group.folder, group.version == 1 ? kVersion1 : kVersion2);
    if (one) least = std::min(*one, least.value_or(*one));
  }
  return least;
}

fs::path nodes_of(const fs::path& root) { return root / "sys/devices/system/node"; }

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// From a list in the kernel's format: "0-15,32-47".
cpu_set_t processors_of(const std::string& list) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::string& part : split(list, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    const auto first = parse_integer(ends.front()), last = parse_integer(ends.back());
    if (!first || !last || *first < 0) continue;
    for (std::int64_t one = *first; one <= std::min<std::int64_t>(*last, CPU_SETSIZE - 1); ++one) {
      CPU_SET(static_cast<std::size_t>(one), &set);
    }
  }
  return set;
}

/// Whether more than one node has processors.
bool several_nodes(const fs::path& root) {
  const std::string list = first_line(nodes_of(root) / "has_cpu");
  return list.find_first_of(",-") != std::string::npos;
}

}  // namespace

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

std::uint64_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return limit.rlim_cur;
}

FreeMemory free_host_memory(const fs::path& root, std::uint64_t address_space) {
  const auto available = number_in(root / "proc/meminfo", "MemAvailable:");
  std::uint64_t least = available ? *available << 10 : kNoLimit;
  std::string bound = "the machine's memory";
  const auto take = [&](std::optional<std::uint64_t> bytes, const char* name) {
    if (!bytes || *bytes >= least) return;
    least = *bytes;
    bound = name;
  };
  take(left_by_own_groups(root), "the memory limit of its control group");
  if (address_space != kNoLimit) {
    const auto taken = number_in(root / "proc/self/status", "VmSize:");
    if (taken) take(left(address_space, *taken << 10), "its address-space limit, ulimit -v");
  }
  if (least == kNoLimit) return {};
  // 0 would mean unknown.
  return {.bytes = std::max<std::size_t>(least, 1), .bound = std::move(bound)};
}

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    return std::string(trimmed(line.substr(colon + 1)));
  }
  return "";
}

std::optional<int> numa_node_of(const std::string& bus, const fs::path& root) {
  const std::string name = lower_case(bus);
  const auto node = parse_integer(first_line(root / "sys/bus/pci/devices" / name / "numa_node"));
  return node && *node >= 0 ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

std::string stay_on_node(int node, const fs::path& root) {
  if (!several_nodes(root)) return "";
  const std::string list = first_line(nodes_of(root) / ("node" + std::to_string(node)) / "cpulist");
  cpu_set_t allowed, near = processors_of(list);
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return std::strerror(errno);
  CPU_AND(&near, &near, &allowed);
  if (CPU_COUNT(&near) == 0) return "it may use none of that node's processors (" + list + ")";
  return sched_setaffinity(0, sizeof near, &near) == 0 ? "" : std::strerror(errno);
}

}  // namespace trainyard
