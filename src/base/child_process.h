// A program started without a shell, which need not be waited for at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

/// The program `name` in the folders of `search_path` ("/usr/bin:/bin", the format of PATH).
[[nodiscard]] std::optional<fs::path> find_program(std::string_view name,
                                                   std::string_view search_path);

/// The words as exec takes them, with a null at the end; they must outlive it.
[[nodiscard]] std::vector<char*> pointers(std::vector<std::string>& words);

struct Command {
  fs::path program;
  std::vector<std::string> arguments;         // without the program's name
  std::vector<std::string> environment;       // "NAME=value"; nothing is inherited
  fs::path folder;                            // working directory
  fs::path errors;                            // file that receives stderr
  fs::path output = {};                       // file that receives stdout; empty: `errors`
  std::string input = {};                     // what it reads from stdin
  double limit_seconds = 60;                  // then it is killed
  std::uint64_t most_file_bytes = 64u << 20;  // SIGXFSZ ends it if a file it writes exceeds this
};

/// A running program, in its own process group so that Ctrl-C does not reach it. It is reaped as
/// soon as it ends, and killed with its children at its limit, whatever the caller does meanwhile.
class ChildProcess {
 public:
  /// Throws Error{disk} naming the program if it cannot be started.
  explicit ChildProcess(const Command& command);
  /// Kills it if it is still running; does not wait.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// True once it has ended or is past its limit; does not wait.
  [[nodiscard]] bool ended() const;
  /// Waits for it to end: the exit code, or 128 + the signal that ended it. Empty at its limit, and
  /// as soon as `stopped` returns true while it runs.
  [[nodiscard]] std::optional<int> wait(const std::function<bool()>& stopped = nullptr);

 private:
  struct Watched;
  /// Returns an errno value, with the process killed, if the threads cannot be started.
  int watch(double limit_seconds);

  std::shared_ptr<Watched> watched_;
};

}  // namespace trainyard
