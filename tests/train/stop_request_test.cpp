#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "ranks/stop_vote.h"

using namespace trainyard;

namespace {

/// The wait status of a child that runs `f` and exits with what it returns.
template <class F>
int status_of_child(F&& f) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // The test program has its own handlers.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) ::signal(signal, SIG_DFL);
    ::_exit(f());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

}  // namespace

TEST_CASE("each stopping signal is remembered and does not end the process") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    CAPTURE(signal);
    const int status = status_of_child([&] {
      const StopSignals signals;
      if (signals.stop_signal() != 0) return 1;
      ::raise(signal);
      return signals.stop_signal() == signal ? 0 : 2;
    });
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

TEST_CASE("the first stopping signal is the one that counts") {
  const int status = status_of_child([] {
    const StopSignals signals;
    ::raise(SIGTERM);
    ::raise(SIGINT);
    return signals.stop_signal() == SIGTERM ? 0 : 1;
  });
  CHECK(status == 0);
}

TEST_CASE("SIGUSR2 neither stops nor ends a process") {
  const int status = status_of_child([] {
    StopSignals signals;
    ::raise(SIGUSR2);
    return signals.stop_signal() == 0 ? 0 : 4;
  });
  CHECK(status == 0);
}

TEST_CASE("a second SIGINT ends the process by that signal") {
  const int status = status_of_child([] {
    const StopSignals signals;
    ::raise(SIGINT);
    ::raise(SIGINT);
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGINT);
}

TEST_CASE("a second SIGTERM does not end the process") {
  const int status = status_of_child([] {
    const StopSignals signals;
    ::raise(SIGTERM);
    ::raise(SIGTERM);
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("SIGHUP and SIGINT stay ignored if they were, and SIGPIPE is ignored") {
  const int status = status_of_child([] {
    ::signal(SIGHUP, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    const StopSignals signals;
    ::raise(SIGHUP);
    ::raise(SIGINT);
    ::raise(SIGINT);
    ::raise(SIGPIPE);
    return signals.stop_signal();
  });
  CHECK(status == 0);
}

TEST_CASE("the former actions are restored") {
  const int status = status_of_child([] {
    { const StopSignals signals; }
    ::raise(SIGTERM);
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
}

TEST_CASE("ending by a signal is seen by the parent as that signal, blocked or not") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    CAPTURE(signal);
    const int status = status_of_child([&]() -> int {
      sigset_t all;
      sigfillset(&all);
      ::sigprocmask(SIG_BLOCK, &all, nullptr);
      const StopSignals signals;
      end_by_signal(signal);
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
}

TEST_CASE("handlers have their own stack as long as there is a listener") {
  stack_t before = {}, during = {}, after = {};
  REQUIRE(::sigaltstack(nullptr, &before) == 0);
  {
    const StopSignals signals;
    REQUIRE(::sigaltstack(nullptr, &during) == 0);
    CHECK((during.ss_flags & SS_DISABLE) == 0);
    CHECK(during.ss_size >= 64 << 10);
    for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2}) {
      struct sigaction action = {};
      REQUIRE(::sigaction(signal, nullptr, &action) == 0);
      CHECK((action.sa_flags & SA_ONSTACK) != 0);
    }
    ::raise(SIGTERM);
    CHECK(signals.stop_signal() == SIGTERM);
  }
  REQUIRE(::sigaltstack(nullptr, &after) == 0);
  CHECK(after.ss_flags == before.ss_flags);
  CHECK(after.ss_sp == before.ss_sp);
}
