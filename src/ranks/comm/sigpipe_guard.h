// Writing to a connection that the other side has closed, without SIGPIPE.
#pragma once

#include <csignal>

namespace trainyard {

/// While it exists, a write of this thread to a closed connection fails instead of ending the
/// process. Threads started meanwhile keep this setting. Gloo writes without suppressing the
/// signal.
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
