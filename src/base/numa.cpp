#include "base/numa.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/text.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

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
