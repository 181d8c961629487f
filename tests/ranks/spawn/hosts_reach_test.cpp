// Which hosts reach each other, by what a program that stands in for train and for ssh prints.
#include "ranks/spawn/hosts_reach.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "../base/temporary_folder.h"
#include "base/clock.h"

using namespace trainyard;
using trainyard::testing::TemporaryFolder;

namespace {

/// A shell script, called as `train doctor --listen FIRST`, as `train doctor --reach LIST`, or by
/// ssh's arguments, of which the fifth is the host.
std::filesystem::path script(const TemporaryFolder& folder, const std::string& name,
                             const std::string& text) {
  const std::filesystem::path path = folder.path() / name;
  std::ofstream(path) << "#!/bin/sh\n" << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

/// Hosts "here", which is this machine, and `others`. Everything that listens does so at
/// 10.0.0.N:400N, N its number in the file from 0.
ReachTest hosts_with(const TemporaryFolder& folder, const std::vector<std::string>& others,
                     const std::string& program, const std::string& ssh) {
  ReachTest test{.hosts = {.file = "hosts.txt",
                           .hosts = {{.name = "here", .slots = 0, .line = 1}},
                           .own_names = {"here"}},
                 .version = "train 1.0",
                 .start_seconds = 60,
                 .reach_seconds = 60};
  for (const std::string& name : others) {
    test.hosts.hosts.push_back({.name = name, .slots = 0, .line = 2});
  }
  test.hosts.program = script(folder, "train", program);
  test.ssh = script(folder, "ssh", ssh);
  test.environment = {"PATH=/usr/bin:/bin"};
  return test;
}

constexpr const char* kHere = R"(
  case $2 in
    --listen) echo "listening 10.0.0.0 4000 train 1.0"; sleep 60 ;;
    --reach) for one in $(echo "$3" | tr , ' '); do echo "reached $one"; done ;;
  esac
)";

}  // namespace

TEST_CASE("hosts that reach each other, the first by its name") {
  const TemporaryFolder folder;
  const ReachTest test = hosts_with(folder, {"node1"}, kHere, R"(
    case $6 in
      *--listen*here) echo "listening 10.0.0.1 4001 train 1.0"; sleep 60 ;;
      *--reach*here:4000) echo "reached here:4000" ;;
    esac
  )");
  const auto hosts = test_reach(test, SystemClock());
  CHECK(all_reached(hosts));
  CHECK(reach_text("hosts.txt", hosts) ==
        "hosts.txt: 2 hosts\n"
        "here listens at 10.0.0.0:4000 and reaches 1 of 1 others\n"
        "node1 listens at 10.0.0.1:4001 and reaches 1 of 1 others\n");
}

TEST_CASE("a connection that works one way only, a host without an answer, and another version") {
  const TemporaryFolder folder;
  const ReachTest test = hosts_with(folder, {"node1", "node2", "node3"}, kHere, R"(
    case "$5 $6" in
      node1*--listen*) echo "listening 10.0.0.1 4001 train 1.0"; sleep 60 ;;
      node1*--reach*) echo "missed here:4000 Connection refused" ;;
      node2*) echo "ssh: connect to host node2 port 22: No route to host" >&2; exit 255 ;;
      node3*) echo "listening 10.0.0.3 4003 train 0.9"; sleep 60 ;;
    esac
  )");
  const auto hosts = test_reach(test, SystemClock());
  CHECK_FALSE(all_reached(hosts));
  CHECK(reach_text("hosts.txt", hosts) ==
        "hosts.txt: 4 hosts\n"
        "here listens at 10.0.0.0:4000 and reaches 1 of 3 others\n"
        "node1 listens at 10.0.0.1:4001 and reaches 0 of 3 others\n"
        "  it does not reach here at here:4000: Connection refused\n"
        "node2 takes no part: ssh: connect to host node2 port 22: No route to host\n"
        "node3 takes no part: it has train 0.9, and this machine train 1.0; all hosts need the "
        "same\n"
        "Ranks listen at any free port: allow TCP between all hosts, at the addresses above, and "
        "ssh without a password from this machine.\n");
}

TEST_CASE("a host that does not answer in time, and one that ends without a word") {
  const TemporaryFolder folder;
  ReachTest test =
      hosts_with(folder, {"node1", "node2"}, kHere, "[ $5 = node1 ] && exec sleep 60; exit 3\n");
  test.start_seconds = 0.5;
  const auto hosts = test_reach(test, SystemClock());
  REQUIRE(hosts.size() == 3);
  CHECK(hosts[1].problem == "no answer within 0.5 s");
  CHECK(hosts[2].problem == "train ended there with exit code 3");
}

TEST_CASE("the lines of the two parts on a host") {
  CHECK(listening_line("10.0.0.1", 41234, "train 1.0") == "listening 10.0.0.1 41234 train 1.0\n");
  CHECK(reached_line("a:1", "") == "reached a:1\n");
  CHECK(reached_line("a:1", "Connection refused") == "missed a:1 Connection refused\n");
}
