#include "base/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/handle.h"
#include "base/text.h"

namespace trainyard {

namespace {

/// The attributes and actions of posix_spawn, freed with the object.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

/// Threads started meanwhile get no signals: those of a run are the main thread's.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_ = {};
};

/// A file in memory at whose beginning `text` is read; none, and errno, on failure.
Descriptor memory_file(std::string_view text) {
  Descriptor file(FileNumber{::memfd_create("stdin", MFD_CLOEXEC)});
  while (file && !text.empty()) {
    const ssize_t written = ::write(file.get().value, text.data(), text.size());
    if (written < 0) return {};
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (file) ::lseek(file.get().value, 0, SEEK_SET);
  return file;
}

/// `input`: of memory_file(); none: /dev/null.
void fill(SpawnSettings& settings, const Command& command, const Descriptor& input) {
  const auto open_output = [&](int descriptor, const fs::path& path) {
    ::posix_spawn_file_actions_addopen(&settings.actions, descriptor, path.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0666);
  };
  if (input) {
    ::posix_spawn_file_actions_adddup2(&settings.actions, input.get().value, STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  open_output(STDERR_FILENO, command.errors);
  if (command.output.empty()) {
    ::posix_spawn_file_actions_adddup2(&settings.actions, STDERR_FILENO, STDOUT_FILENO);
  } else {
    open_output(STDOUT_FILENO, command.output);
  }
  // A connection held by a child would outlive its owner.
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, STDERR_FILENO + 1);
  // After the opens, so that `errors` may be relative to our own folder.
  ::posix_spawn_file_actions_addchdir_np(&settings.actions, command.folder.c_str());
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(
      &settings.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

}  // namespace

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

std::optional<fs::path> find_program(std::string_view name, std::string_view search_path) {
  for (const std::string& folder : split(search_path, ':')) {
    // An empty entry means the current folder, from which nothing is run.
    if (folder.empty()) continue;
    std::error_code ignored;
    const fs::path path = fs::path(folder) / name;
    const bool runs = ::access(path.c_str(), X_OK) == 0;
    if (runs && fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

/// Shared by the object and the two threads that watch the process. They are detached, so that not
/// even a process that cannot be killed (it waits for a dead disk) blocks us.
struct ChildProcess::Watched {
  pid_t pid = -1;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> exit_code;
  bool overdue = false;

  [[nodiscard]] bool over() const { return exit_code.has_value() || overdue; }
  /// With `mutex` held: the pid belongs to this process until it is reaped.
  void kill() const {
    if (!exit_code) ::kill(-pid, SIGKILL);
  }
  void reap();
  void limit(double seconds);
};

void ChildProcess::Watched::reap() {
  siginfo_t ignored = {};
  const auto id = static_cast<id_t>(pid);
  while (::waitid(P_PID, id, &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) continue;
  const std::scoped_lock lock(mutex);
  int status = 0;
  const bool ours = ::waitpid(pid, &status, 0) == pid;
  exit_code = !ours                 ? 127  // something else has reaped it
              : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                    : WEXITSTATUS(status);
  changed.notify_all();
}

void ChildProcess::Watched::limit(double seconds) {
  std::unique_lock lock(mutex);
  const std::chrono::duration<double> time(seconds);
  if (changed.wait_for(lock, time, [this] { return exit_code.has_value(); })) return;
  overdue = true;
  kill();
  changed.notify_all();
}

ChildProcess::ChildProcess(const Command& command) : watched_(std::make_shared<Watched>()) {
  std::vector<std::string> words = {command.program.string()};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  SpawnSettings settings;
  const Descriptor input = command.input.empty() ? Descriptor() : memory_file(command.input);
  int error = command.input.empty() || input ? 0 : errno;
  fill(settings, command, input);
  if (error == 0) {
    error =
        ::posix_spawn(&watched_->pid, command.program.c_str(), &settings.actions,
                      &settings.attributes, pointers(words).data(), pointers(environment).data());
  }
  if (error == 0) {
    // posix_spawn sets no limits. The child writes little before this.
    const rlimit bytes = {.rlim_cur = command.most_file_bytes, .rlim_max = command.most_file_bytes};
    ::prlimit(watched_->pid, RLIMIT_FSIZE, &bytes, nullptr);
    error = watch(command.limit_seconds);
  }
  if (error != 0) {
    throw disk_error("cannot start '" + command.program.string() +
                     "': " + std::generic_category().message(error));
  }
}

int ChildProcess::watch(double limit_seconds) {
  const SignalsBlocked blocked;
  bool reaping = false;
  try {
    std::thread([watched = watched_] { watched->reap(); }).detach();
    reaping = true;
    std::thread([watched = watched_, limit_seconds] { watched->limit(limit_seconds); }).detach();
    return 0;
  } catch (const std::system_error& failure) {
    {
      const std::scoped_lock lock(watched_->mutex);
      watched_->kill();
    }
    if (!reaping) watched_->reap();
    return failure.code().value();
  }
}

ChildProcess::~ChildProcess() {
  const std::scoped_lock lock(watched_->mutex);
  watched_->kill();
}

bool ChildProcess::ended() const {
  const std::scoped_lock lock(watched_->mutex);
  return watched_->over();
}

std::optional<int> ChildProcess::wait(const std::function<bool()>& stopped) {
  // A signal handler wakes no waiter.
  constexpr auto kLook = std::chrono::milliseconds(50);
  std::unique_lock lock(watched_->mutex);
  while (!watched_->over() && !(stopped && stopped())) watched_->changed.wait_for(lock, kLook);
  return watched_->overdue ? std::nullopt : watched_->exit_code;
}

}  // namespace trainyard
