// Writing to a connection that the other side has closed, without the signal.
#pragma once

#include <csignal>

namespace trainyard {

/// While it lives, a write of this thread to a closed connection fails instead of ending the
/// process. Threads begun meanwhile stay so. Gloo writes without asking for that.
class SigpipeGuard {
 public:
  SigpipeGuard();
  ~SigpipeGuard();
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace trainyard
