#include "ranks/spawn/rank_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/child_process.h"
#include "base/error.h"

namespace trainyard {
namespace {

[[noreturn]] void fail(const fs::path& program, int reason) {
  throw device_error("cannot start '" + program.string() +
                     "': " + std::generic_category().message(reason));
}

/// What a new process needs until exec, prepared before the fork: in between nothing may allocate.
struct Start {
  const char* program;
  const char* folder;
  char* const* arguments;
  char* const* environment;
  ProcessStreams streams;
  int report;  // the write end of a pipe that exec closes
  pid_t launcher;
};

void default_signals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction current = {};
    // What the launcher ignores (nohup, background jobs) stays ignored.
    if (::sigaction(signal, nullptr, &current) == 0 && current.sa_handler != SIG_IGN) {
      ::sigaction(signal, &action, nullptr);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool take_streams(const Start& start) {
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return false;
  if (nothing != STDIN_FILENO) ::close(nothing);
  const auto give = [](int descriptor, int stream) {
    return descriptor < 0 || ::dup2(descriptor, stream) >= 0;
  };
  return give(start.streams.out, STDOUT_FILENO) && give(start.streams.errors, STDERR_FILENO);
}

/// The child's side: only calls that are safe between fork and exec.
[[noreturn]] void become(const Start& start) {
  ::setpgid(0, 0);
  bool ready = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  // If the launcher died before the line above, no signal will come.
  if (::getppid() != start.launcher) ::_exit(1);
  default_signals();
  ready = ready && take_streams(start) && (*start.folder == '\0' || ::chdir(start.folder) == 0);
  if (ready) ::execve(start.program, start.arguments, start.environment);
  const int reason = errno;
  // If even this fails, the launcher sees exit code 127.
  const ssize_t written = ::write(start.report, &reason, sizeof reason);
  ::_exit(written < 0 ? 127 : 126);
}

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

RankProcess::RankProcess(const SpawnCommand& command, const ProcessStreams& streams) {
  std::vector<std::string> words = {command.program.string()};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  const std::vector<char*> word_pointers = pointers(words);
  const std::vector<char*> environment_pointers = pointers(environment);
  int report[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC) != 0) fail(command.program, errno);
  const Start start{.program = command.program.c_str(),
                    .folder = command.folder.c_str(),
                    .arguments = word_pointers.data(),
                    .environment = environment_pointers.data(),
                    .streams = streams,
                    .report = report[1],
                    .launcher = ::getpid()};
  pid_ = ::fork();
  if (pid_ == 0) become(start);
  const int fork_error = errno;
  ::close(report[1]);
  int reason = pid_ < 0 ? fork_error : 0;
  if (pid_ > 0) {
    ::setpgid(pid_, pid_);  // here too, so that the group exists from now on, whoever is first
    while (::read(report[0], &reason, sizeof reason) < 0 && errno == EINTR) continue;
  }
  ::close(report[0]);
  if (reason == 0) return;
  if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  fail(command.program, reason);
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), end_(other.end_) {}

RankProcess::~RankProcess() {
  if (pid_ <= 0 || end_) return;
  kill_group();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
}

const std::optional<ProcessEnd>& RankProcess::end() {
  int status = 0;
  if (end_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return end_;
  end_ = WIFSIGNALED(status) ? ProcessEnd{.signal = WTERMSIG(status)}
                             : ProcessEnd{.exit_code = WEXITSTATUS(status)};
  return end_;
}

void RankProcess::send(int signal) {
  if (!end_) ::kill(pid_, signal);
}

void RankProcess::kill_group() {
  if (!end_) ::kill(-pid_, SIGKILL);
}

SpawnSignals::SpawnSignals() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw device_error("cannot watch the ranks: no pipe: " +
                       std::generic_category().message(errno));
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
