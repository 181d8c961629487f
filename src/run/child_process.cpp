#include "run/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/error.h"
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

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

void fill(SpawnSettings& settings, const Command& command) {
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&settings.actions, STDOUT_FILENO, command.errors.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::posix_spawn_file_actions_adddup2(&settings.actions, STDOUT_FILENO, STDERR_FILENO);
  // A connection that a child holds would outlive its owner.
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

std::optional<std::filesystem::path> find_program(std::string_view name,
                                                  std::string_view search_path) {
  for (const std::string& folder : split(search_path, ':')) {
    // An empty entry means the current folder, from which nothing is run.
    if (folder.empty()) continue;
    std::error_code ignored;
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    const bool runs = ::access(path.c_str(), X_OK) == 0;
    if (runs && std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

ChildProcess::ChildProcess(const Command& command) {
  std::vector<std::string> words = {command.program.string()};
  words.insert(words.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = command.environment;
  SpawnSettings settings;
  fill(settings, command);
  const int error =
      ::posix_spawn(&pid_, command.program.c_str(), &settings.actions, &settings.attributes,
                    pointers(words).data(), pointers(environment).data());
  if (error != 0) {
    throw Error(ErrorKind::disk, "cannot start '" + command.program.string() +
                                     "': " + std::generic_category().message(error));
  }
}

ChildProcess::~ChildProcess() { wait(); }

void ChildProcess::take(int status) {
  exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool ChildProcess::ended() {
  if (exit_code_) return true;
  int status = 0;
  const pid_t result = ::waitpid(pid_, &status, WNOHANG);
  if (result == pid_) take(status);
  return exit_code_.has_value();
}

int ChildProcess::wait() {
  int status = 0;
  while (!exit_code_) {
    const pid_t result = ::waitpid(pid_, &status, 0);
    if (result == pid_) take(status);
    if (result < 0 && errno != EINTR) exit_code_ = 127;  // somebody else has waited for it
  }
  return *exit_code_;
}

}  // namespace trainyard
