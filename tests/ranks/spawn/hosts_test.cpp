// Host files, and the commands made from them.
#include "ranks/spawn/hosts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>

#include "../../base/error_of.h"
#include "base/text.h"

namespace trainyard {
namespace {

using testing::error_of;

std::string hosts_refusal(const std::string& text) {
  return error_of(ErrorKind::config, [&] { static_cast<void>(parse_hosts(text, "hosts.txt")); });
}

HostsSpawn launch_on(const std::string& hosts) {
  return {.file = "hosts.txt",
          .hosts = parse_hosts(hosts, "hosts.txt"),
          .ranks_per_host = 8,
          .own_names = {"localhost", "head"},
          .program = "/opt/bin/train",
          .arguments = {"--config", "a b.yaml", "--gpus", "8"},
          .folder = "/data/here",
          .variables = {"TRAINYARD_TOKEN"}};
}

std::string arguments_on(const std::string& hosts) {
  return joined(mpirun_arguments(launch_on(hosts)), " ");
}

TEST_CASE("a host file has one host per line, with comments, blank lines and slots") {
  const auto hosts =
      parse_hosts("# the cluster\nnode1\n\n  10.0.0.7\tslots=8  # the new one\r\nc", "f");
  CHECK(hosts == std::vector<Host>{{"node1", 0, 2}, {"10.0.0.7", 8, 4}, {"c", 0, 5}});
}

TEST_CASE("every bad line of a host file is named") {
  CHECK(hosts_refusal("node1:22\n-oProxyCommand=x\nb slots=0\nc slots=2 slots=2\nd port=3\nb") ==
        "hosts.txt:1:1: 'node1:22' is neither a host name nor an IPv4 address; write one host per "
        "line\n"
        "hosts.txt:2:1: '-oProxyCommand=x' is neither a host name nor an IPv4 address; write one "
        "host per "
        "line\n"
        "hosts.txt:3:1: 'slots=0' after host 'b': expected slots=N, or nothing\n"
        "hosts.txt:4:1: 'slots=2' after host 'c': expected slots=N, or nothing\n"
        "hosts.txt:5:1: 'port=3' after host 'd': expected slots=N, or nothing");
  CHECK(hosts_refusal("a\nb\na") ==
        "hosts.txt:3:1: host 'a' is listed twice; give it slots=N instead");
}

TEST_CASE("a host file without a host is refused") {
  CHECK(hosts_refusal("# nobody\n\n") ==
        "hosts.txt:1:1: 0 hosts; expected from 1 to 4096, one per line");
}

TEST_CASE("mpirun gets the hosts, the counts, MASTER_ADDR, and the arguments as typed") {
  const std::vector<std::string> expected = {"--host",
                                             "node1:8,node2:8",
                                             "-np",
                                             "16",
                                             "-N",
                                             "8",
                                             "--bind-to",
                                             "none",
                                             "--mca",
                                             "odls_base_sigkill_timeout",
                                             "5",
                                             "--wdir",
                                             "/data/here",
                                             "-x",
                                             "MASTER_ADDR=node1",
                                             "-x",
                                             "TRAINYARD_TOKEN",
                                             "/opt/bin/train",
                                             "--config",
                                             "a b.yaml",
                                             "--gpus",
                                             "8"};
  CHECK(mpirun_arguments(launch_on("node1\nnode2 slots=9\n")) == expected);
}

TEST_CASE("this machine, if it is a host, has rank 0") {
  const std::string arguments = arguments_on("node1\nhead\nnode2\n");
  CHECK(arguments.starts_with("--host head:8,node1:8,node2:8 -np 24 -N 8 "));
  CHECK(arguments.find("-x MASTER_ADDR=head ") != std::string::npos);
}

TEST_CASE("a host with fewer slots than ranks is refused with its line") {
  CHECK(error_of(ErrorKind::config, [] { arguments_on("a\nb slots=4"); }) ==
        "hosts.txt:2:1: host 'b' has slots=4, but 8 ranks are requested on each host");
}

TEST_CASE("localhost is accepted only as the single host") {
  CHECK(arguments_on("localhost").find("-x MASTER_ADDR=localhost ") != std::string::npos);
  for (const std::string name : {"localhost", "127.0.0.1"}) {
    CHECK(error_of(ErrorKind::config, [&] { arguments_on("a\n" + name); }) ==
          "hosts.txt:2:1: host '" + name +
              "' means a different machine on each host; write this machine's name");
  }
}

TEST_CASE("fewer ranks fill the hosts one after another, this machine first") {
  const auto arguments_of = [](int ranks) {
    const HostsSpawn part = with_ranks(launch_on("node1\nhead slots=8\nnode3\n"), ranks);
    const std::vector<std::string> arguments = mpirun_arguments(part);
    return joined(std::span(arguments).first(6), " ");
  };
  CHECK(arguments_of(1) == "--host head:1 -np 1 -N 1");
  CHECK(arguments_of(7) == "--host head:7 -np 7 -N 7");
  CHECK(arguments_of(8) == "--host head:8 -np 8 -N 8");
  CHECK(arguments_of(16) == "--host head:8,node1:8 -np 16 -N 8");
  CHECK(arguments_of(24) == "--host head:8,node1:8,node3:8 -np 24 -N 8");
}

TEST_CASE("numbers of ranks that do not fill whole hosts are refused with the valid ones") {
  for (const int ranks : {0, 9, 12, 24}) {
    CHECK(error_of(ErrorKind::command_line,
                   [&] { static_cast<void>(with_ranks(launch_on("node1\nhead\n"), ranks)); }) ==
          std::to_string(ranks) +
              " ranks do not fill the hosts of hosts.txt, which take 8 each; use up to 8, or a "
              "multiple of it up to 16");
  }
}

TEST_CASE("mpirun's end is translated to that of its ranks") {
  const auto code_of = [](int code) { return result_of_mpirun({.exit_code = code}).exit_code; };
  for (const int code : {0, 2, 3, 4, 5, 6, 7, 8, 9, 75}) CHECK(code_of(code) == code);
  for (const int code : {1, 10, 74, 127, 137, 139, 255}) CHECK(code_of(code) == 8);
  CHECK(result_of_mpirun({.exit_code = 137}).message ==
        "a rank was killed by signal 9; see mpirun's output above");
  CHECK(result_of_mpirun({.exit_code = 1}).message ==
        "mpirun ended with exit code 1; see mpirun's output above");
  CHECK(
      result_of_mpirun({.exit_code = 213}).message.starts_with("mpirun ended with exit code 213"));
  CHECK(result_of_mpirun({.exit_code = 8, .message = "mpirun was killed"}).message ==
        "mpirun was killed");
}

TEST_CASE("a signal that mpirun received, or that stopped a rank, is a stop") {
  CHECK(result_of_mpirun({.exit_code = 1, .passed = SIGINT}).signal == SIGINT);
  CHECK(result_of_mpirun({.exit_code = 1, .passed = SIGINT}).exit_code == 0);
  CHECK(result_of_mpirun({.exit_code = 128 + SIGTERM}).signal == SIGTERM);
  CHECK(result_of_mpirun({.exit_code = 7, .passed = SIGTERM}).exit_code == 7);
  CHECK(result_of_mpirun({.signal = SIGHUP}).signal == SIGHUP);
}

TEST_CASE("rsync copies the current folder to each host over ssh, and locally on this machine") {
  const std::vector<std::string> own = {"head"};
  const auto commands = sync_commands(parse_hosts("node1\nhead\n", "f"), own, "/data/my job");
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].host == "node1");
  const std::vector<std::string> expected = {"--archive",
                                             "--protect-args",
                                             "--exclude=/runs/",
                                             "--exclude=/build/",
                                             "--exclude=/.git/",
                                             "-e",
                                             "ssh -o BatchMode=yes",
                                             "./",
                                             "node1:/data/my job/"};
  CHECK(commands[0].arguments == expected);
  CHECK(commands[1].host == "");
  CHECK(commands[1].arguments.back() == "/data/my job/");
}

TEST_CASE("a relative folder to copy to is refused") {
  CHECK(error_of(ErrorKind::command_line,
                 [] { static_cast<void>(sync_commands({}, {}, "here/there")); }) ==
        "--sync-dir 'here/there' is not absolute; it is the same folder on every host, so give the "
        "full path");
}

TEST_CASE("this machine knows its own names") {
  const std::vector<std::string> names = own_names();
  CHECK(std::ranges::count(names, "localhost") == 1);
  CHECK(std::ranges::count(names, "127.0.0.1") >= 1);
}

}  // namespace
}  // namespace trainyard
