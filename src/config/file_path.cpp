#include "config/file_path.h"

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "config/diagnostics.h"
#include "config/scalars.h"

namespace trainyard::config {

fs::path path_from(const Position& where, const std::string& name) {
  const fs::path path(name);
  if (path.is_absolute() || where.file.starts_with(kSetPrefix)) return path;
  return fs::path(where.file).parent_path() / path;
}

namespace {

fs::path without_end_slash(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

/// Where it leads, through links.
fs::path target_of(const fs::path& path) {
  std::error_code ignored;
  return without_end_slash(fs::weakly_canonical(path, ignored));
}

}  // namespace

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  if (error) return path;  // the current folder is gone
  const fs::path plain = without_end_slash(whole.lexically_normal());
  // Behind a link `..` is not the folder before it.
  return target_of(whole) == target_of(plain) ? plain : whole;
}

FilePath file_path(const Position& where, const std::string& name, const std::string& key,
                   const std::string& run) {
  FilePath result = absolute_path(path_from(where, name));
  // As a flag would name them, from the current folder.
  for (const fs::path& typed : {fs::path(name), path_from({.file = run}, name)}) {
    const fs::path other = absolute_path(typed);
    const bool known =
        other == result.path ||
        std::ranges::find(result.others, other, &FilePath::Other::path) != result.others.end();
    if (known) continue;
    result.others.push_back(
        {other, std::string(kSetPrefix) + shell_quoted(key + "=" + written(typed.string()))});
  }
  return result;
}

std::string advice_for(const FilePath::Other& other) {
  return "; a path in a file is relative to that file, one in a flag and the default 'data' to the "
         "current folder; to use '" +
         other.path.string() + "': " + other.flag;
}

std::string elsewhere(const FilePath& path) {
  std::error_code ignored;
  if (fs::exists(path.path, ignored)) return "";
  for (const FilePath::Other& other : path.others) {
    if (fs::exists(other.path, ignored)) return advice_for(other);
  }
  return "";
}

std::string near_file(const fs::path& path) {
  const fs::path folder = path.parent_path();
  std::error_code ignored;  // a folder that cannot be read suggests nothing
  if (fs::is_regular_file(path, ignored)) return "; this is a file";
  if (fs::is_directory(path, ignored)) return "; this is a folder";
  if (fs::exists(path, ignored)) return "; this is a pipe or a device";
  if (fs::is_symlink(path, ignored)) return "; this is a link to what is not there";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
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
