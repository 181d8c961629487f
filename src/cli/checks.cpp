#include "cli/checks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/output_place.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "config/file_path.h"

namespace trainyard::cli {
namespace {

std::string found(const std::string& expected, const std::string& text) {
  return fmt::format("expected {}, found '{}'", expected, text);
}

/// Refuses a folder, and a file in a folder that does not exist; "" is no file.
void require_place_for(const std::string& flag, const fs::path& path) {
  const fs::path folder = path.parent_path();
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    refuse_command(fmt::format("{} {}: this is a folder; name a file", flag, path.string()));
  }
  if (folder.empty() || fs::is_directory(folder, ignored)) return;
  refuse_command(fmt::format("{} {}: the folder '{}' does not exist; create it first", flag,
                             path.string(), folder.string()));
}

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
    throw disk_error(flag + ": cannot keep standard output: " + std::string(std::strerror(errno)));
  }
  return "/proc/self/fd/" + std::to_string(output);
}

/// Seconds: 90, 90s, 5m, 2h, 1h30m, 1.5h, 1d; the units in this order. Empty for anything else.
std::optional<double> parse_duration(std::string_view text) {
  if (const auto seconds = parse_real(text)) return seconds;
  struct Unit {
    char letter;
    double seconds;
  };
  static constexpr std::array<Unit, 4> kUnits{{{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}}};
  if (text.empty()) return std::nullopt;
  double total = 0;
  auto unit = kUnits.begin();
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto count = parse_real(text.substr(0, digits));
    if (!count || digits == text.size()) return std::nullopt;
    unit = std::find_if(unit, kUnits.end(),
                        [&](const Unit& other) { return other.letter == text[digits]; });
    if (unit == kUnits.end()) return std::nullopt;
    total += *count * unit->seconds;
    ++unit;
    text.remove_prefix(digits + 1);
  }
  return total;
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  const bool open = most == std::numeric_limits<std::int64_t>::max();
  const std::string expected = open ? fmt::format("a whole number of {} or more", least)
                                    : fmt::format("a whole number from {} to {}", least, most);
  return {[=](std::string& text) {
            const auto value = parse_integer(text);
            const bool octal = text.size() > 1 && text.front() == '0';  // 010 would be read as 8
            const bool fits = value && *value >= least && *value <= most && !octal;
            return fits ? "" : found(expected, text);
          },
          ""};
}

CLI::Validator number_between(double least, double most) {
  const std::string expected =
      fmt::format("a number from {} to {}", number_text(least), number_text(most));
  return {[=](std::string& text) {
            const auto value = parse_real(text);
            return value && *value >= least && *value <= most ? "" : found(expected, text);
          },
          ""};
}

void take_one_of(CLI::Option* option, const std::vector<std::string>& words) {
  option->type_name(joined(words, "|"));
  option->check({[words](const std::string& text) {
                   if (std::ranges::find(words, text) != words.end()) return std::string();
                   return found("one of " + joined(words), text) + config::suggestion(text, words);
                 },
                 ""});
}

CLI::Validator duration() {
  return {[](std::string& text) {
            const auto seconds = parse_duration(text);
            if (!seconds || !(*seconds > 0)) {
              return found("a time above 0, such as 90, 90s, 5m, 2h or 1h30m", text);
            }
            text = number_text(*seconds);
            return std::string();
          },
          ""};
}

void require_file(const std::string& flag, const fs::path& path, ErrorKind kind) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return;
  throw Error(kind, fmt::format("{}: there is no file '{}'{}", flag, path.string(),
                                config::near_file(path)));
}

CLI::Option* add_output(CLI::App& app, const std::string& names, std::string& value,
                        const std::string& help) {
  return app.add_option(names, value, help + "; -: standard output")->type_name("FILE");
}

std::string kept_output(const std::string& flag, const std::string& value) {
  std::error_code ignored;
  if (value.empty() || fs::is_directory(value, ignored)) return value;
  return output_place(value).descriptor == STDOUT_FILENO ? kept_standard_output(flag) : value;
}

std::string place_for(const std::string& flag, const std::string& value) {
  require_place_for(flag, value);
  return kept_output(flag, value);
}

}  // namespace trainyard::cli
