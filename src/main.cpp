#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "cli/program.h"

namespace {

/// Without this, the next file opened would get the number of a standard stream that is closed at
/// start, and printed text would end up in that file.
void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // open() returns the lowest free number, which is this one. A failure cannot be reported.
    if (::open("/dev/null", O_RDWR) < 0) ::_exit(static_cast<int>(trainyard::ErrorKind::disk));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // so that write(2) fails at the file size limit
  return trainyard::cli::run_program(argc, argv);
}
