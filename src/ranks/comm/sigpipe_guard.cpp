#include "ranks/comm/sigpipe_guard.h"

#include <ctime>

namespace trainyard {
namespace {

sigset_t only_sigpipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

}  // namespace

SigpipeGuard::SigpipeGuard() {
  const sigset_t pipe = only_sigpipe();
  pthread_sigmask(SIG_BLOCK, &pipe, &before_);
}

SigpipeGuard::~SigpipeGuard() {
  // A signal that was raised meanwhile must not be delivered afterwards.
  if (sigismember(&before_, SIGPIPE) == 0) {
    const sigset_t pipe = only_sigpipe();
    const timespec now{};
    while (sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace trainyard
