// Whether the hosts of a host file reach each other both ways, as ranks must.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ranks/spawn/hosts.h"

namespace trainyard {

struct ReachTest {
  HostsLaunch hosts;                     // in rank order: the others connect to the first by name
  std::filesystem::path ssh;             // which starts the program on the other hosts
  std::vector<std::string> environment;  // of ssh, and of the program on this machine
  std::string version;                   // of the program here
  double start_seconds = 20;             // for all hosts to listen
  double reach_seconds = 30;             // for all to have tried the others
};

/// Another host that a host could not connect to.
struct Unreached {
  std::string host;
  std::string address;  // "10.0.0.2:41234"
  std::string why;
};

struct TestedHost {
  std::string name;
  std::string address;  // where it listens; "" if it does not
  std::string problem;  // why it took no part; "" if it did
  std::vector<Unreached> unreached;
};

/// Starts `train doctor --listen` on every host, then `train doctor --reach` on each that listens,
/// with the others' addresses: those at which their ranks would listen. Hosts in rank order. Throws
/// Error{device} if ssh cannot be started.
[[nodiscard]] std::vector<TestedHost> test_reach(const ReachTest& test, const Clock& clock);

/// Whether all hosts took part and reached all others.
[[nodiscard]] bool all_reached(const std::vector<TestedHost>& hosts);
/// For people: a line for each host and each that it does not reach.
[[nodiscard]] std::string reach_text(const std::string& file, const std::vector<TestedHost>& hosts);

/// What `train doctor --listen` prints, and --reach for each address ("" for `why`: reached).
[[nodiscard]] std::string listening_line(const std::string& address, int port,
                                         const std::string& version);
[[nodiscard]] std::string reached_line(const std::string& address, const std::string& why);

}  // namespace trainyard
