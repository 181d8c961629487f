#include "ranks/spawn/spawn_signals.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "base/error.h"

namespace trainyard {
namespace {

// A signal handler can reach only statics.
std::atomic<int> pipe_end = -1;
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  const int before = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe holds thousands of unread signals: this one adds nothing.
  const ssize_t written = ::write(pipe_end, &byte, 1);
  errno = written < 0 ? before : errno;
}

bool ignored_now(int signal) {
  struct sigaction current = {};
  return ::sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

/// For poll(): whole milliseconds, rounded up.
int milliseconds(double seconds) {
  if (seconds < 0) return -1;
  return static_cast<int>(std::min(std::ceil(seconds * 1e3), 1e9));
}

}  // namespace

SpawnSignals::SpawnSignals() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(ErrorKind::device,
                "cannot watch the ranks: no pipe: " + std::generic_category().message(errno));
  }
  reading_ = ends[0];
  writing_ = ends[1];
  pipe_end = writing_;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) {
    if ((signal == SIGINT || signal == SIGHUP) && ignored_now(signal)) continue;
    Former former{signal, {}};
    ::sigaction(signal, &action, &former.action);
    former_.push_back(former);
  }
}

SpawnSignals::~SpawnSignals() {
  for (const Former& former : former_) ::sigaction(former.signal, &former.action, nullptr);
  pipe_end = -1;
  ::close(reading_);
  ::close(writing_);
}

std::vector<int> SpawnSignals::wait(double seconds) {
  pollfd readable{.fd = reading_, .events = POLLIN, .revents = 0};
  std::vector<int> signals;
  // If a handler interrupts poll(), its byte is in the pipe, and the read below gets it.
  ::poll(&readable, 1, milliseconds(seconds));
  std::array<unsigned char, 256> bytes{};
  for (;;) {
    const ssize_t got = ::read(reading_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return signals;
    signals.insert(signals.end(), bytes.begin(), bytes.begin() + got);
  }
}

}  // namespace trainyard
