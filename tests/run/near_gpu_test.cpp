// A rank on the processors near its GPU, with a root that simulates sys.
#include <doctest/doctest.h>
#include <sched.h>

#include <thread>
#include <vector>

#include "../base/temporary_folder.h"
#include "base/parallel.h"
#include "run/session/session_device.h"

using namespace trainyard;

namespace {

/// Runs a rank whose GPU is on node 1, which has these processors.
struct Rank {
  int cores = 0;
  std::vector<std::string> warnings;
  explicit Rank(const std::string& processors) {
    const testing::TemporaryFolder root;
    root.write("sys/devices/system/node/has_cpu", "0-1\n");
    root.write("sys/devices/system/node/node1/cpulist", processors + "\n");
    std::jthread([&] {  // a thread of its own, so that this one is not moved
      stay_near(
          {.ordinal = 2, .numa_node = 1},
          [&](const std::string& text) { warnings.push_back(text); }, root.path());
      cores = available_cores();
    })
        .join();
  }
};

std::string first_processor() {
  cpu_set_t set;
  CPU_ZERO(&set);
  REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
  std::size_t one = 0;
  while (!CPU_ISSET(one, &set)) ++one;
  return std::to_string(one);
}

}  // namespace

TEST_CASE("a rank stays on the processors of its GPU's node, and counts those as its cores") {
  const Rank rank(first_processor());
  CHECK(rank.cores == 1);
  CHECK(rank.warnings.empty());
}

TEST_CASE("a rank that cannot run on its GPU's node warns once and stays where it is") {
  const Rank rank("1000-1003");
  CHECK(rank.cores == available_cores());
  REQUIRE(rank.warnings.size() == 1);
  CHECK(rank.warnings[0] ==
        "cuda:2 is on NUMA node 1, where this process cannot run: it may use none of that node's "
        "processors (1000-1003); batches made by the host reach it more slowly");
}

TEST_CASE("a GPU whose node is unknown moves nothing") {
  const int before = available_cores();
  stay_near({.ordinal = 0}, [](const std::string& text) { FAIL_CHECK(text); });
  CHECK(available_cores() == before);
}
