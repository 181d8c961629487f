// Where the file that a flag names is written: behind links, or into what is there.
#pragma once

#include <optional>

#include "base/filesystem.h"

namespace trainyard {

struct OutputPlace {
  fs::path path;         // behind links
  int descriptor = -1;   // a file that this process has open: -, /dev/stdout, /dev/fd/63
  bool special = false;  // a device or a pipe, which is opened and never replaced
  std::optional<unsigned> permissions = std::nullopt;  // the existing file's

  /// What is written cannot be taken back or written again.
  [[nodiscard]] bool is_stream() const { return descriptor >= 0 || special; }
};

/// Throws Error{disk} for a folder, a file that this user cannot write, and links without end.
[[nodiscard]] OutputPlace output_place(const fs::path& named);

}  // namespace trainyard
