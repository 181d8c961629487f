// Where the ranks other than 0 write what they print, and the end of it for messages.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace trainyard {

/// The file of one rank's stdout and stderr, seen from the launcher.
class RankOutput {
 public:
  /// A file without a name, in `folder`'s file system, gone with the last process that has it open.
  [[nodiscard]] static RankOutput anonymous(const std::filesystem::path& folder);
  /// `path`, to which is added; its folder is made. Both throw Error{disk} naming the path.
  [[nodiscard]] static RankOutput at(const std::filesystem::path& path);

  [[nodiscard]] int descriptor() const { return file_.get().value; }
  /// "" for a file without a name that the rank has not moved.
  [[nodiscard]] std::filesystem::path path() const;
  /// The last lines, at most `lines` of them and 8 KiB; of the file that the rank moved to, if it
  /// did. "" if it printed nothing.
  [[nodiscard]] std::string tail(int lines) const;
  /// All that was written to it, wherever the rank went on.
  [[nodiscard]] std::string text() const;

 private:
  RankOutput(int descriptor, std::filesystem::path path);

  // Handle takes its empty value for no handle, and 0 is a descriptor.
  Descriptor file_;
  std::filesystem::path path_;
};

/// Called by a rank when the run folder is there: what it printed so far goes to `path` (its folder
/// is made, a file that is there is added to), and what it prints from now on too. The last line of
/// the former file says where. Does nothing where `path` already is the file. Flush C and C++
/// streams before. Throws Error{disk} naming the path.
void move_output(const std::filesystem::path& path);

/// "rank2.log".
[[nodiscard]] std::string output_name(int rank);

}  // namespace trainyard
