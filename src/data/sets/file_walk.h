// The files of a folder and of the folders in it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "config/fields.h"

namespace trainyard {

/// What is done with symbolic links to files and folders.
enum class Links { follow, refuse };
[[nodiscard]] constexpr config::Words<Links> words(Links) { return {"follow", "refuse"}; }

struct FoundFile {
  std::string name;        // its path below the folder, as seen through links
  std::string fault = {};  // why it cannot be read, a message; "": nothing is known against it
};

/// Whether a file is wanted, by its name; Error{data} is its fault.
using Wanted = std::function<bool(const fs::path&)>;

/// The wanted files below a folder, without hidden ones, in the order of Keras and torchvision: by
/// the paths of their folders, then by their names. Faults are: no regular file, a link to nothing.
/// Throws Error{data} for a folder that cannot be read, a link to a folder that it is in, a link to
/// nothing whose name is none of a wanted file, and if links are refused any link.
[[nodiscard]] std::vector<FoundFile> files_below(const fs::path& folder, Links links,
                                                 const Wanted& wanted);

/// The names of the folders in a folder, in their order. Throws as files_below().
[[nodiscard]] std::vector<std::string> folders_in(const fs::path& folder, Links links);

/// Throws Error{data} that a link is refused.
[[noreturn]] void refuse_link(const fs::path& link);

/// The fault of a file; "" if it is a regular one, or a link to one.
[[nodiscard]] std::string fault_of(const fs::path& file);

}  // namespace trainyard
