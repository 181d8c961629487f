// train.log: the console output, each line with its time in UTC, without colour or bar.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/clock.h"

namespace trainyard {

/// The lines of a run, also appended after a resume; each is one write(2).
class LogFile {
 public:
  /// `disk` and `clock` must outlive it.
  LogFile(const Disk& disk, const Clock& clock, const std::filesystem::path& path);
  /// Appends `text`; each line is prefixed with the time, and escape sequences are left out.
  void write(std::string_view text);
  void sync() { file_.sync(); }

 private:
  const Clock& clock_;
  AppendFile file_;
};

/// `text` without escape sequences ("ESC [ … letter") and control characters; line feeds stay.
[[nodiscard]] std::string without_escapes(std::string_view text);

}  // namespace trainyard
