#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "cli/program.h"

namespace {

/// A standard stream that is closed at the start would be the number of the next file opened, and
/// what is printed would go into that file.
void open_closed_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest number that is free, which is this one. There is nowhere to say that it failed.
    if (::open("/dev/null", O_RDWR) < 0) ::_exit(static_cast<int>(trainyard::ErrorKind::disk));
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at the limit of sizes is an error of write(2) then
  return trainyard::cli::run_program(argc, argv);
}
