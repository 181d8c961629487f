// Errors with the exit code of their kind, and positions in the user's files.
//
// The folder base holds what every other folder may use: errors and exit codes, files that are
// written atomically, hashing, Philox, clocks, child processes, loops over cores. Only its own
// sources include xxHash, OpenMP and the loader. Nothing here knows tensors, YAML or ranks, and
// nothing prints or reads the environment.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/filesystem.h"

namespace trainyard {

/// What went wrong; the value is the program's exit code.
enum class ErrorKind : int {
  bug = 1,
  command_line = 2,
  config = 3,
  data = 4,
  diverged = 5,
  memory = 6,
  disk = 7,
  device = 8,
  checkpoint = 9,
};

/// A position in a file that the user wrote. Lines and columns count from 1; line 0: no position.
struct Position {
  std::string file;
  int line = 0;
  int column = 0;

  [[nodiscard]] bool known() const { return line > 0; }
  /// "path:line:column", or "" if unknown.
  [[nodiscard]] std::string text() const;
  bool operator==(const Position&) const = default;
};

/// Every error that the program raises on purpose. The message is complete: where, what was found,
/// what was expected, what to do. It may have several lines (all errors of a file).
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const { return kind_; }
  [[nodiscard]] int exit_code() const { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// Errors of a kind, to throw.
inline Error config_error(const std::string& message) { return {ErrorKind::config, message}; }
inline Error data_error(const std::string& message) { return {ErrorKind::data, message}; }
inline Error memory_error(const std::string& message) { return {ErrorKind::memory, message}; }
inline Error disk_error(const std::string& message) { return {ErrorKind::disk, message}; }
inline Error device_error(const std::string& message) { return {ErrorKind::device, message}; }
inline Error checkpoint_error(const std::string& text) { return {ErrorKind::checkpoint, text}; }

/// Throws Error{command_line}: the flags or the environment ask for something impossible.
[[noreturn]] void refuse_command(const std::string& message);

/// Throws Error{bug}: our mistake, never the user's input.
[[noreturn]] void check_failed(std::string_view expression, std::string_view message,
                               std::source_location where);

/// Throws Error{data}: the file, in quotes, followed by `what` ("is damaged: ...").
[[noreturn]] void bad_file(const fs::path& file, const std::string& what);

}  // namespace trainyard

/// Checks an internal invariant. `message` is any expression convertible to std::string_view.
#define TY_CHECK(condition, message) \
  (static_cast<bool>(condition)      \
       ? static_cast<void>(0)        \
       : ::trainyard::check_failed(#condition, message, std::source_location::current()))
