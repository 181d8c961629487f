// A program started without a shell, which need not be waited for at once.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The program `name` in the folders of `search_path` ("/usr/bin:/bin", as PATH has them).
[[nodiscard]] std::optional<std::filesystem::path> find_program(std::string_view name,
                                                                std::string_view search_path);

struct Command {
  std::filesystem::path program;
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::filesystem::path folder;          // where it runs
  std::filesystem::path errors;          // file for its stdout and stderr
};

/// One running program, in a process group of its own so that Ctrl-C does not reach it.
class ChildProcess {
 public:
  /// Throws Error{disk} naming the program if it cannot be started.
  explicit ChildProcess(const Command& command);
  /// Waits for its end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// True once it has ended; does not wait.
  [[nodiscard]] bool ended();
  /// Waits for its end: exit code, or 128 + the signal that ended it.
  int wait();

 private:
  void take(int status);

  pid_t pid_ = -1;
  std::optional<int> exit_code_;
};

}  // namespace trainyard
