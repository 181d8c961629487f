// Archives in the format tar (POSIX.1-1988 "ustar"), which may be compressed with gzip.
#pragma once

#include <string>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

struct UnpackOptions {
  std::string top;                    // the folder that all members must be in: "aclImdb"
  std::vector<std::string> left_out;  // beginnings of names: "aclImdb/train/unsup/"
};

/// Writes the regular files and folders of an archive below `folder`, which exists. Other members
/// (links, devices) are left out. Throws Error{data} naming the archive for a damaged one, and for
/// a member outside `options.top` or with ".." in its name; Error{disk}.
void unpack_tar(const fs::path& archive, const fs::path& folder, const UnpackOptions& options);

}  // namespace trainyard
