// The output files of ranks other than 0, and their last lines for messages.
#pragma once

#include <string>

#include "base/filesystem.h"
#include "base/handle.h"

namespace trainyard {

/// The file with one rank's stdout and stderr, as the launcher sees it.
class RankOutput {
 public:
  /// An unnamed file in `folder`'s file system, removed when the last process closes it.
  [[nodiscard]] static RankOutput anonymous(const fs::path& folder);
  /// `path`, opened for appending; its folder is created. Both throw Error{disk} naming the path.
  [[nodiscard]] static RankOutput at(const fs::path& path);

  [[nodiscard]] int descriptor() const { return file_.get().value; }
  /// "" for an unnamed file that the rank has not moved.
  [[nodiscard]] fs::path path() const;
  /// The last lines, at most `lines` of them and 8 KiB, of the file that the rank moved to, if it
  /// did. "" if it printed nothing.
  [[nodiscard]] std::string tail(int lines) const;
  /// All text written to this file, even if the rank moved on to another one.
  [[nodiscard]] std::string text() const;

 private:
  RankOutput(int descriptor, fs::path path);

  // Not a Handle<int>: its empty value, 0, is a valid descriptor.
  Descriptor file_;
  fs::path path_;
};

/// Called by a rank once the run folder exists: copies its output so far to `path` (the folder is
/// created, an existing file is appended to) and sends further output there. The last line of the
/// former file says where. Does nothing if `path` already is the file. Flush C and C++ streams
/// before. Throws Error{disk} naming the path.
void move_output(const fs::path& path);

/// "rank2.log".
[[nodiscard]] std::string output_name(int rank);

}  // namespace trainyard
