// The memory left, from files in the kernel's format.
#include "base/host.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "temporary_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// A root with 1000 MiB available, and a process that uses 100 MiB of address space.
struct FakeRoot {
  TemporaryFolder folder;

  FakeRoot() {
    write("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 1024000 kB\nBuffers: 1 kB\n");
    write("proc/self/status", "Name:\ttrain\nVmPeak:\t  999999 kB\nVmSize:\t  102400 kB\n");
  }
  void write(const std::string& name, const std::string& text) const { folder.write(name, text); }
  [[nodiscard]] FreeMemory free(std::uint64_t address_space = kNoLimit) const {
    return free_host_memory(folder.path(), address_space);
  }
};

}  // namespace

TEST_CASE("without limits the machine's available memory is free") {
  const FakeRoot root;
  CHECK(root.free().bytes == 1000 * kMiB);
  CHECK(root.free().bound == "the machine's memory");
}

TEST_CASE("under an address-space limit, what the process has not yet used is free") {
  const FakeRoot root;
  CHECK(root.free(130 * kMiB).bytes == 30 * kMiB);
  CHECK(root.free(130 * kMiB).bound == "its address-space limit, ulimit -v");
  CHECK(root.free(4000 * kMiB).bytes == 1000 * kMiB);
}

TEST_CASE("a process beyond its limit has next to nothing free, not everything") {
  const FakeRoot root;
  CHECK(root.free(90 * kMiB).bytes == 1);
  CHECK(root.free(90 * kMiB).bound == "its address-space limit, ulimit -v");
}

TEST_CASE("control groups of version 2: the least of a group and its ancestors") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "0::/jobs/one\n");
  root.write("sys/fs/cgroup/jobs/memory.max", "209715200\n");
  root.write("sys/fs/cgroup/jobs/memory.current", "157286400\n");
  root.write("sys/fs/cgroup/jobs/memory.stat", "anon 5\nfile 7\ninactive_file 52428800\n");
  root.write("sys/fs/cgroup/jobs/one/memory.max", "max\n");
  root.write("sys/fs/cgroup/jobs/one/memory.current", "104857600\n");
  CHECK(root.free().bytes == 100 * kMiB);  // 200 - (150 - 50 reclaimable)
  CHECK(root.free().bound == "the memory limit of its control group");
}

TEST_CASE("control groups of version 1, in a container that sees its own as the root") {
  const FakeRoot root;
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/0123\n0::/\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n");
  root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
  CHECK(root.free().bytes == 200 * kMiB);
}

TEST_CASE("if nothing can be read, the free memory is unknown") {
  const TemporaryFolder nothing;
  CHECK(free_host_memory(nothing.path(), kNoLimit).bytes == 0);
  CHECK(free_host_memory(nothing.path(), kNoLimit).bound.empty());
}
