// Host files, and the commands that start ranks on other hosts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "ranks/spawn/spawn.h"

namespace trainyard {

/// A line of a host file.
struct Host {
  std::string name;  // or IPv4 address
  int slots = 0;     // ranks that fit on it; 0: not given
  int line = 0;      // in the file, from 1
  bool operator==(const Host&) const = default;
};

/// Reads a host file: one host per line ("node1", "10.0.0.7 slots=8"); blank lines and comments
/// from # on are ignored. Throws Error{config} with every bad line ("hosts.txt:3:1: ...") and for a
/// file without a host.
[[nodiscard]] std::vector<Host> parse_hosts(std::string_view text, const std::string& file);

/// The same program on several hosts.
struct HostsSpawn {
  std::string file;  // the host file's name, for messages
  std::vector<Host> hosts;
  int ranks_per_host = 1;
  /// Names and addresses of this machine.
  std::vector<std::string> own_names;
  fs::path program;                    // the same path on all hosts
  std::vector<std::string> arguments;  // the program's
  fs::path folder;                     // where the ranks run, on all hosts
  std::vector<std::string> variables;  // names of variables passed from here to all ranks
};

/// The same launch with `ranks` ranks in total, host by host in rank order: fewer than
/// ranks_per_host run on the first host alone. Throws Error{command_line} for a number that does
/// not fill whole hosts, or exceeds all of them.
[[nodiscard]] HostsSpawn with_ranks(HostsSpawn launch, int ranks);

/// The arguments of Open MPI's mpirun: ranks_per_host ranks on each host, not bound to cores,
/// MASTER_ADDR the host of rank 0. Rank 0 runs on this machine if it is one of the hosts, else on
/// the first. Throws Error{config} for a host with fewer slots than ranks, and for "localhost"
/// among several hosts, naming the line.
[[nodiscard]] std::vector<std::string> mpirun_arguments(const HostsSpawn& launch);

/// The result of the ranks from mpirun's. mpirun ends with the exit code of the first rank that
/// failed, with 128 + N if signal N killed one, with 1 after a signal that it passed on as SIGTERM,
/// and with 1 and other codes for its own errors. A stop by a signal remains one; a killed rank and
/// mpirun's own errors become exit code 8.
[[nodiscard]] SpawnResult result_of_mpirun(SpawnResult result);

/// One copy of the current folder.
struct SyncCommand {
  std::string host;  // "" for this machine
  std::vector<std::string> arguments;
};
/// The arguments of rsync that copy the current folder (configs, models, data) to `folder` on each
/// host over ssh, and to `folder` on this machine if it is a host; runs/, build/ and .git/ are not
/// copied. Nothing is deleted there. Throws Error{command_line} if `folder` is not absolute.
[[nodiscard]] std::vector<SyncCommand> sync_commands(std::span<const Host> hosts,
                                                     std::span<const std::string> own_names,
                                                     const fs::path& folder);

/// The host name and addresses of this machine, including "localhost" and 127.0.0.1.
[[nodiscard]] std::vector<std::string> own_names();

}  // namespace trainyard
