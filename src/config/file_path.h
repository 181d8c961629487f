// Files and folders that a config names.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/filesystem.h"

namespace trainyard::config {

/// The file name of positions in values of `--set`: this and the key.
inline constexpr std::string_view kSetPrefix = "--set ";

/// A file or folder that a key names; as Fields reads it, absolute.
struct FilePath {
  /// What the same words would name from another folder, and the flag that selects it.
  struct Other {
    fs::path path;
    std::string flag;
  };

  FilePath() = default;
  FilePath(fs::path given) : path(std::move(given)) {}
  FilePath(std::string given) : path(std::move(given)) {}
  FilePath(const char* given) : path(given) {}
  [[nodiscard]] bool empty() const { return path.empty(); }
  [[nodiscard]] std::string string() const { return path.string(); }

  fs::path path;
  std::vector<Other> others;
};

/// The path of a file named in a config file: names are relative to the file that contains them
/// (`where.file`), those in `--set` to the current folder.
[[nodiscard]] fs::path path_from(const Position& where, const std::string& name);

/// `name` at `where`, absolute, of the key `key` of the run file `run`.
[[nodiscard]] FilePath file_path(const Position& where, const std::string& name,
                                 const std::string& key, const std::string& run);

/// The path from the root folder, without `.` and, where it crosses no link, without `..`.
[[nodiscard]] fs::path absolute_path(const fs::path& path);

/// "; '/home/me/d' exists: ...", with the flag that selects it.
[[nodiscard]] std::string advice_for(const FilePath::Other& other);
/// The same for the first of the other paths that exists, if `path` does not; else "".
[[nodiscard]] std::string elsewhere(const FilePath& path);

/// "; did you mean 'configs/tiny.yaml'?" for the most similar name in the folder of `path`, written
/// as a path; else "".
[[nodiscard]] std::string near_file(const fs::path& path);

}  // namespace trainyard::config
