#include "base/host.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>

#include "base/control_group.h"
#include "base/text.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

/// The number after `word` in a file of words and numbers ("MemAvailable:  123 kB"), or the file's
/// first number if `word` is empty. Empty if there is none: "max" is no number.
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

/// The least memory left in any group of this process.
std::optional<std::uint64_t> left_by_own_groups(const fs::path& root) {
  std::optional<std::uint64_t> least;
  for (const ControlGroup& group : control_groups("memory", root)) {
    const auto one = left_by_group(group.folder, group.version == 1 ? kVersion1 : kVersion2);
    if (one) least = std::min(*one, least.value_or(*one));
  }
  return least;
}

}  // namespace

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

}  // namespace trainyard
