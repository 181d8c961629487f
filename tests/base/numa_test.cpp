// NUMA nodes from files in the kernel's format; threads are moved on the real processors.
#include <doctest/doctest.h>
#include <sched.h>

#include <thread>

#include "base/host.h"
#include "temporary_folder.h"

using namespace trainyard;
using trainyard::testing::TemporaryFolder;

namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

/// One processor that this process may use.
std::size_t one_allowed() {
  const cpu_set_t set = allowed();
  std::size_t one = 0;
  while (!CPU_ISSET(one, &set)) ++one;
  return one;
}

/// A machine with nodes 0 and 1, which have no processor and `near`.
struct TwoNodes {
  TemporaryFolder root;
  explicit TwoNodes(const std::string& near, const std::string& nodes = "0-1") {
    root.write("sys/devices/system/node/has_cpu", nodes + "\n");
    root.write("sys/devices/system/node/node1/cpulist", near + "\n");
  }
};

/// Calls stay_on_node(1) in a separate thread, so that this one is unaffected.
struct Moved {
  std::string problem;
  int cores = 0, cores_of_child = 0;
  explicit Moved(const TwoNodes& machine) {
    std::jthread([&] {
      problem = stay_on_node(1, machine.root.path());
      const cpu_set_t own = allowed();
      cores = CPU_COUNT(&own);
      std::jthread([&] {
        const cpu_set_t child = allowed();
        cores_of_child = CPU_COUNT(&child);
      }).join();
    }).join();
  }
};

}  // namespace

TEST_CASE("the node of a device is read by its bus id, in upper or lower case") {
  const TemporaryFolder root;
  root.write("sys/bus/pci/devices/0000:ab:00.0/numa_node", "1\n");
  root.write("sys/bus/pci/devices/0000:17:00.0/numa_node", "-1\n");
  CHECK(numa_node_of("0000:AB:00.0", root.path()) == 1);
  CHECK_FALSE(numa_node_of("0000:17:00.0", root.path()).has_value());
  CHECK_FALSE(numa_node_of("0000:99:00.0", root.path()).has_value());
}

TEST_CASE("a thread and those it starts stay on the processors of a node") {
  const std::string one = std::to_string(one_allowed());
  const Moved moved(TwoNodes(one + "-" + one + ",1000-1010"));
  CHECK(moved.problem == "");
  CHECK(moved.cores == 1);
  CHECK(moved.cores_of_child == 1);
}

TEST_CASE("a process that may use none of a node's processors is not moved, with a reason") {
  const cpu_set_t before = allowed();
  const Moved moved(TwoNodes("1000-1003"));
  CHECK(moved.problem == "it may use none of that node's processors (1000-1003)");
  CHECK(moved.cores == CPU_COUNT(&before));
}

TEST_CASE("on a machine with one node nothing is moved") {
  const cpu_set_t before = allowed();
  const Moved moved(TwoNodes(std::to_string(one_allowed()), "0"));
  CHECK(moved.problem == "");
  CHECK(moved.cores == CPU_COUNT(&before));
}
