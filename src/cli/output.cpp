#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/output_place.h"
#include "base/text.h"
#include "cli/checks.h"

namespace trainyard::cli {

namespace {

/// Keeps standard output for one file, and lets printed text go to standard error.
std::string kept_standard_output(const std::string& flag) {
  static bool kept = false;
  if (std::exchange(kept, true)) {
    refuse_command(flag + ": standard output has another file already; name a file");
  }
  std::fflush(stdout);
  constexpr int kAboveUsual = 10;
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, kAboveUsual);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw Error(ErrorKind::disk,
                flag + ": cannot keep standard output: " + std::string(std::strerror(errno)));
  }
  return "/proc/self/fd/" + std::to_string(output);
}

}  // namespace

CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& value,
                        const std::string& help) {
  return app.add_option(names, value, help + "; -: standard output")->type_name("FILE");
}

std::string kept_output(const std::string& flag, const std::string& value) {
  std::error_code ignored;
  if (value.empty() || std::filesystem::is_directory(value, ignored)) return value;
  return output_place(value).descriptor == STDOUT_FILENO ? kept_standard_output(flag) : value;
}

std::string place_for(const std::string& flag, const std::string& value) {
  require_place_for(flag, value);
  return kept_output(flag, value);
}

void print(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void print_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 1) return print(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(std::string_view text, bool data) { data ? print_data(text) : print(text); }

}  // namespace trainyard::cli
