#include "starter/starter_data.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "config/near_file.h"
#include "data/image_folder.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostTextBytes = 1u << 30;
constexpr std::size_t kLeastTextBytes = 8'000;

struct KnownName {
  const char* name;
  StarterKind kind;
};
constexpr std::array kKnownNames = {
    KnownName{"cifar10", StarterKind::cifar10}, KnownName{"mnist", StarterKind::mnist},
    KnownName{"fashion_mnist", StarterKind::fashion_mnist}, KnownName{"imdb", StarterKind::imdb}};

/// A run's name from a file's: letters, digits, '_' and '-'.
std::string plain_name(const fs::path& path) {
  std::string name = path.stem().string();
  for (char& c : name) {
    if (!is_digit(c) && !begins_name(c) && c != '-') c = '_';
  }
  return name.empty() || name.front() == '-' ? "starter" : name;
}

std::string without_end_slash(std::string text) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

StarterData look_at_pictures(const fs::path& folder) {
  StarterData found{.kind = StarterKind::pictures,
                    .name = plain_name(fs::absolute(folder).lexically_normal()),
                    .path = folder};
  std::error_code ignored;
  if (fs::is_directory(folder / "train", ignored)) {
    for (const char* name : {"val", "validation", "test"}) {
      if (!fs::is_directory(folder / name, ignored)) continue;
      found.path = folder / "train";
      found.val_path = folder / name;
      break;
    }
  }
  ImageFolderOptions options;
  options.root = found.path.string();
  options.memory_mib = 0;  // headers suffice
  const auto set = open_image_folder(options);
  found.classes = set->classes();
  found.samples = set->size();
  if (found.classes < 2) {
    throw Error(ErrorKind::data, "'" + found.path.string() +
                                     "' has one folder of pictures: a classifier needs at least "
                                     "two classes, with a folder each");
  }
  return found;
}

StarterData look_at_text(const fs::path& file) {
  const std::string text = read_text(file, ErrorKind::data, kMostTextBytes);
  if (text.size() < kLeastTextBytes) {
    throw Error(ErrorKind::data, "'" + file.string() + "' has " + std::to_string(text.size()) +
                                     " bytes; a model of text needs at least " +
                                     std::to_string(kLeastTextBytes) + " to begin with");
  }
  std::set<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    if (length == 0 || rest.front() == '\0') {
      throw Error(ErrorKind::data, "'" + file.string() + "' is no text in UTF-8: byte " +
                                       std::to_string(text.size() - rest.size()) + " is none");
    }
    characters.insert(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return {.kind = StarterKind::text,
          .name = plain_name(file),
          .path = file,
          .characters = std::ssize(characters)};
}

}  // namespace

StarterData look_at_data(const std::string& data) {
  std::vector<std::string> names;
  for (const KnownName& known : kKnownNames) {
    if (data == known.name) return {.kind = known.kind, .name = data};
    names.emplace_back(known.name);
  }
  std::error_code ignored;
  const fs::path path = without_end_slash(data);
  if (fs::is_directory(path, ignored)) return look_at_pictures(path);
  if (fs::is_regular_file(path, ignored)) return look_at_text(path);
  std::string hint = config::suggestion(data, names);
  if (hint.empty()) hint = config::near_file(path);
  refuse_command("'" + data + "' is no folder of pictures, no text file, and none of the sets " +
                 joined(names) + hint);
}

}  // namespace trainyard
