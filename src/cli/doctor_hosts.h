// `train doctor --hosts`, and the two parts of it that run on each host.
#pragma once

#include <string>

namespace trainyard::cli {

/// Tests whether the hosts of a host file reach each other, and prints it. The exit code: 0, or 8.
/// Throws the errors of the host file, and Error{command_line} without ssh.
int examine_hosts(const std::string& file, bool json);
/// Listens at the address at which others reach this machine's ranks if rank 0 is on `first`,
/// prints it, and answers everyone for two minutes, or until nobody reads the output.
int listen_for_hosts(const std::string& first);
/// Tries to connect to "HOST:PORT,..." and prints for each whether that works. Throws
/// Error{command_line} for text of another form.
int reach_hosts(const std::string& addresses);

}  // namespace trainyard::cli
