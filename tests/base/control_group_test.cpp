// Processor quotas of control groups, from files in the kernel's format.
#include <doctest/doctest.h>

#include "base/host.h"
#include "base/parallel.h"
#include "temporary_folder.h"

using namespace trainyard;
using trainyard::testing::TemporaryFolder;

TEST_CASE("version 2: the smallest quota of a group and its ancestors counts") {
  const TemporaryFolder root;
  root.write("proc/self/cgroup", "0::/jobs/one\n");
  root.write("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
  root.write("sys/fs/cgroup/jobs/one/cpu.max", "400000 100000\n");
  CHECK(processor_quota(root.path()) == 1.5);
}

TEST_CASE("version 1: a container that sees its own group as the root") {
  const TemporaryFolder root;
  root.write("proc/self/cgroup", "5:cpu,cpuacct:/docker/0123\n4:memory:/docker/0123\n0::/\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "25000\n");
  CHECK(processor_quota(root.path()) == 2.0);
}

TEST_CASE("unlimited groups and files without a value give no quota") {
  const TemporaryFolder root;
  CHECK_FALSE(processor_quota(root.path()).has_value());
  root.write("proc/self/cgroup", "5:cpu:/a\n0::/a\n");
  root.write("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  root.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  CHECK_FALSE(processor_quota(root.path()).has_value());
}

TEST_CASE("a quota permits whole cores, at least one, and no more than the affinity") {
  CHECK(whole_cores(8, std::nullopt) == 8);
  CHECK(whole_cores(8, 2.5) == 2);
  CHECK(whole_cores(8, 0.5) == 1);
  CHECK(whole_cores(2, 16.0) == 2);
}
