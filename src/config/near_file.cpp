#include "config/near_file.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "config/diagnostics.h"

namespace trainyard::config {

std::string near_file(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  std::error_code ignored;  // a folder that cannot be read suggests nothing
  if (std::filesystem::is_regular_file(path, ignored)) return "; this is a file";
  if (std::filesystem::is_directory(path, ignored)) return "; this is a folder";
  if (std::filesystem::exists(path, ignored)) return "; this is a pipe or a device";
  if (std::filesystem::is_symlink(path, ignored)) return "; this is a link to what is not there";
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    // A broken link, or what is there but no file, is no better than what was typed.
    if (entry.path().filename() != path.filename()) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest(path.filename().string(), names);
  return near.empty() ? "" : "; did you mean '" + (folder / near).string() + "'?";
}

}  // namespace trainyard::config
