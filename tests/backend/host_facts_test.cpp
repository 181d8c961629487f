// What limits a process, in a root that simulates proc, sys and dev.
#include <doctest/doctest.h>

#include "../base/temporary_folder.h"
#include "backend/doctor.h"

namespace trainyard {
namespace {

TEST_CASE("memory, processors and shared memory are read where the kernel writes them") {
  const testing::TemporaryFolder root;
  root.write("proc/meminfo", "MemAvailable: 1024000 kB\n");
  root.write("proc/self/cgroup", "0::/\n");
  root.write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  CHECK_FALSE(look_at_host(root.path()).shared_bytes.has_value());
  std::filesystem::create_directories(root / "dev/shm");
  const HostFacts found = look_at_host(root.path());
  CHECK(found.memory.bytes == std::size_t{1000} << 20);
  CHECK(found.processor_quota == 2.5);
  CHECK(found.shared_bytes.value_or(0) > 0);
}

TEST_CASE("the facts of a host are one line, and known numbers in JSON") {
  HostFacts host{.memory = {.bytes = std::size_t{100} << 20, .bound = "its limit"},
                 .processor_quota = 1.5,
                 .shared_bytes = {},
                 .locked_bytes = 8 << 20};
  CHECK(
      host_text(host) ==
      "100 MiB free by its limit, /dev/shm does not exist, locked at most 8 MiB, 1.5 processors by "
      "its control group");
  CHECK(host_json(host)["processor_quota"] == 1.5);
  CHECK(host_json(host)["locked_bytes"] == 8 << 20);
  CHECK_FALSE(host_json(host).contains("shared_bytes"));
  CHECK(host_text({}).starts_with("free: unknown, "));
}

}  // namespace
}  // namespace trainyard
