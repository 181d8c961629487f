#include "data/sets/source.h"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "base/error.h"
#include "base/read_file.h"
#include "config/schema.h"

namespace trainyard {

void declare_common(config::Fields& fields, SourceOptions& options) {
  fields.field("limit", options.limit, "uses only this many samples; 0 uses all", {.minimum = 0});
}

bool source_takes(std::string_view source, std::string_view key) {
  const auto kinds = dataset_kinds();
  const auto kind = std::ranges::find(kinds, source, &config::Kind<DatasetSource>::name);
  if (kind == kinds.end()) return false;
  config::Fields fields(config::Profile::keras2);
  static_cast<void>(kind->read(fields));
  return std::ranges::any_of(fields.descriptions(), [&](const config::FieldDescription& field) {
    return field.key == key;
  });
}

const fs::path& located(const config::FilePath& file) {
  const std::string advice = config::elsewhere(file);
  if (advice.empty()) return file.path;
  throw data_error("'" + file.string() + "' does not exist" + advice);
}

namespace {

bool holds_one_of(const fs::path& folder, const std::vector<std::string>& files) {
  std::error_code ignored;
  for (const std::string& file : files) {
    if (fs::exists(folder / file, ignored)) return true;
  }
  return false;
}

/// Where the files may be if `root` is given.
std::vector<fs::path> places(const FolderSearch& search, const fs::path& root) {
  if (search.subfolder.empty()) return {root};
  return {root / search.subfolder, root};
}

/// The first of the places that holds one of the files; empty: none.
fs::path place_of(const FolderSearch& search, const fs::path& root) {
  for (const fs::path& folder : places(search, root)) {
    if (holds_one_of(folder, search.files)) return folder;
  }
  return {};
}

}  // namespace

fs::path find_data_folder(const FolderSearch& search) {
  fs::path found = place_of(search, search.root.path);
  if (!found.empty()) return found;
  const std::vector<fs::path> folders = places(search, search.root.path);
  std::string text = "cannot find " + search.title + ": no " + search.files.front() + " in ";
  for (std::size_t i = 0; i < folders.size(); ++i) {
    text += (i == 0 ? "'" : ", '") + folders[i].string() + "'";
  }
  for (const config::FilePath::Other& other : search.root.others) {
    if (place_of(search, other.path).empty()) continue;
    throw data_error(text + config::advice_for(other));
  }
  // Only sources with a subfolder name may omit their root.
  if (!search.subfolder.empty()) {
    text +=
        "; without 'root' it is searched for in $TRAINYARD_DATA, or in data/ if that is not set";
  }
  throw data_error(text + "; " + search.advice);
}

std::vector<std::string> read_class_names(const fs::path& path, std::int64_t classes) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  std::istringstream text(read_text(path, ErrorKind::data, kMostBytes));
  std::vector<std::string> names;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    if (std::ranges::find(names, line) != names.end()) {
      throw data_error("'" + path.string() + "' has the class name '" + line +
                       "' twice; each class has its own");
    }
    names.push_back(line);
  }
  if (classes > 0 && std::ssize(names) != classes) {
    throw data_error("'" + path.string() + "' has " + std::to_string(names.size()) +
                     " class names, expected " + std::to_string(classes));
  }
  return names;
}

}  // namespace trainyard
