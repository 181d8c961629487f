#include "data/source.h"

#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/read_file.h"

namespace trainyard {

namespace fs = std::filesystem;

std::span<const config::Word<Split>> words(Split) {
  static constexpr config::Word<Split> kWords[] = {{Split::train, "train"}, {Split::test, "test"}};
  return kWords;
}

void declare_common(config::Fields& fields, SourceOptions& options) {
  fields.field("limit", options.limit, "uses only this many samples; 0 uses all", {.minimum = 0});
  if (!fields.describing()) options.config_folder = fs::path(fields.where().file).parent_path();
}

fs::path located(const fs::path& path, const fs::path& config_folder) {
  std::error_code ignored;
  if (path.is_absolute() || fs::exists(path, ignored)) return path;
  const fs::path candidate = config_folder / path;
  return fs::exists(candidate, ignored) ? candidate : path;
}

namespace {

bool holds_one_of(const fs::path& folder, const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files) {
    if (fs::exists(folder / file, ignored)) return true;
  }
  return false;
}

std::vector<fs::path> places(const FolderSearch& search) {
  std::vector<fs::path> roots{search.root};
  const fs::path candidate = search.config_folder / search.root;
  if (candidate != roots.front()) roots.push_back(candidate);
  std::vector<fs::path> found;
  for (const fs::path& root : roots) {
    if (!search.subfolder.empty()) found.push_back(root / search.subfolder);
    found.push_back(root);
  }
  return found;
}

}  // namespace

fs::path find_data_folder(const FolderSearch& search) {
  const std::vector<fs::path> folders = places(search);
  for (const fs::path& folder : folders) {
    if (holds_one_of(folder, search.files)) return folder;
  }
  std::string text = "cannot find " + search.title + ": no " + search.files.front() + " in ";
  for (std::size_t i = 0; i < folders.size(); ++i) {
    text += (i == 0 ? "'" : ", '") + folders[i].string() + "'";
  }
  // Only sources with a subfolder name may omit their root.
  if (!search.subfolder.empty()) {
    text +=
        "; without 'root' it is searched for in $TRAINYARD_DATA, or in data/ if that is not set";
  }
  throw Error(ErrorKind::data, text + "; " + search.advice);
}

std::vector<std::string> read_class_names(const fs::path& path, std::int64_t classes) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  std::istringstream text(read_text(path, ErrorKind::data, kMostBytes));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (classes > 0 && std::ssize(names) != classes) {
    throw Error(ErrorKind::data, "'" + path.string() + "' has " + std::to_string(names.size()) +
                                     " class names, expected " + std::to_string(classes));
  }
  return names;
}

}  // namespace trainyard
