#include "backend/host_facts.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include "base/control_group.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr double kMebibyte = 1024.0 * 1024;

std::string mib(double bytes) { return fmt::format("{:.0f} MiB", bytes / kMebibyte); }

std::optional<std::size_t> size_of(const fs::path& folder) {
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) != 0) return std::nullopt;
  return static_cast<std::size_t>(system.f_blocks) * system.f_frsize;
}

std::optional<std::uint64_t> locked_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

}  // namespace

HostFacts look_at_host(const fs::path& root) {
  return {.memory = free_host_memory(root),
          .processor_quota = processor_quota(root),
          .shared_bytes = size_of(root / "dev/shm"),
          .locked_bytes = locked_limit()};
}

std::string host_text(const HostFacts& host) {
  std::string text = "free: unknown";
  if (host.memory.bytes > 0) {
    text = mib(static_cast<double>(host.memory.bytes)) + " free by " + host.memory.bound;
  }
  text += ", /dev/shm " +
          (host.shared_bytes ? mib(static_cast<double>(*host.shared_bytes)) : "does not exist");
  text += ", locked at most ";
  text += host.locked_bytes ? mib(static_cast<double>(*host.locked_bytes)) : "all";
  if (host.processor_quota) {
    text += fmt::format(", {:g} processors by its control group", *host.processor_quota);
  }
  return text;
}

Json host_json(const HostFacts& host) {
  Json json{{"free_bytes", host.memory.bytes}, {"memory_bound", host.memory.bound}};
  if (host.processor_quota) json["processor_quota"] = *host.processor_quota;
  if (host.shared_bytes) json["shared_bytes"] = *host.shared_bytes;
  if (host.locked_bytes) json["locked_bytes"] = *host.locked_bytes;
  return json;
}

}  // namespace trainyard
