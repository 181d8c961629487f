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
#include "config/file_path.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kMostTextBytes = 1u << 30;
constexpr std::size_t kLeastTextBytes = 8'000;

struct KnownName {
  const char* name;
  StarterKind kind;
};
constexpr std::array kKnownNames = {
    KnownName{"cifar10", StarterKind::cifar10}, KnownName{"mnist", StarterKind::mnist},
    KnownName{"fashion_mnist", StarterKind::fashion_mnist}, KnownName{"imdb", StarterKind::imdb}};

constexpr const char* kReadable =
    "'train init' reads a folder of images with a folder for each class, a list of images, a table "
    "or texts with their classes, and a text";
constexpr std::string_view kJsonAdvice =
    "no source reads JSON; 'text' learns to continue a text of any kind";

struct OtherSource {
  std::string_view ending, advice;
};
constexpr std::array kOtherSources = {
    OtherSource{".npz", "source 'arrays' reads sequences from it"},
    OtherSource{".npy", "source 'arrays' reads sequences from it"},
    OtherSource{".safetensors", "source 'tensors' reads images, numbers and labels from it"},
    OtherSource{".pack", "source 'pack' reads it"},
    OtherSource{".json", kJsonAdvice},
    OtherSource{".jsonl", kJsonAdvice}};

/// Refuses files that have a source of their own, and images.
void refuse_other_sources(const fs::path& file) {
  std::string advice;
  const std::string ending = lower_case(file.extension().string());
  const auto other = std::ranges::find(kOtherSources, ending, &OtherSource::ending);
  if (other != kOtherSources.end()) {
    advice = other->advice;
  } else if (is_image_name(file)) {
    advice = "it is a single image; give the folder with the folders of its classes";
  }
  if (advice.empty()) return;
  throw data_error("'" + file.string() + "': " + advice + ". " + kReadable +
                   "; docs/language/data.md has all sources");
}

/// A run's name from a file's: letters, digits, '_' and '-', no more than 100.
std::string plain_name(std::string name) {
  name.resize(std::min<std::size_t>(name.size(), 100));
  for (char& c : name) {
    if (!is_digit(c) && !begins_name(c) && c != '-') c = '_';
  }
  return name.empty() || name.front() == '-' ? "starter" : name;
}

std::string without_end_slash(std::string text) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

/// Looks at the images of a split, which must be of several classes.
ImageFacts look_at_set(const fs::path& path, const Dataset& set, const Answer& answer = {}) {
  const ImageFacts facts = facts_of_images(set, answer);
  if (facts.outputs >= 2 || answer.kind != Answer::Kind::classes) return facts;
  throw data_error("'" + path.string() +
                   "' has images of one class: a classifier needs at least two");
}

StarterData look_at_folder(const fs::path& folder) {
  StarterData found{.kind = StarterKind::images,
                    .name = plain_name(config::absolute_path(folder).filename().string()),
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
  found.images = look_at_set(found.path, *open_image_folder(options));
  return found;
}

StarterData look_at_list(const fs::path& file, FoundList list) {
  StarterData found{
      .kind = StarterKind::images, .name = plain_name(file.stem().string()), .path = file};
  list.options.memory_mib = 0;
  found.images = look_at_set(file, *open_image_list(list.options), list.answer);
  found.list = std::move(list.options);
  return found;
}

StarterData look_at_text(const fs::path& file) {
  const std::string text = read_text(file, ErrorKind::data, kMostTextBytes);
  if (text.size() < kLeastTextBytes) {
    throw data_error("'" + file.string() + "' has " + std::to_string(text.size()) +
                     " bytes; a model of text needs at least " + std::to_string(kLeastTextBytes) +
                     " to begin with");
  }
  std::int64_t count = 0;
  std::set<std::string_view> characters;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    if (length == 0 || rest.front() == '\0') {
      throw data_error("'" + file.string() + "' is not a text in UTF-8: byte " +
                       std::to_string(text.size() - rest.size()) + " is none. " + kReadable +
                       "; docs/language/data.md has all sources");
    }
    ++count;
    characters.insert(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return {.kind = StarterKind::text,
          .name = plain_name(file.stem().string()),
          .path = file,
          .length = count,
          .characters = std::ssize(characters)};
}

StarterData look_at_file(const fs::path& file) {
  refuse_other_sources(file);
  if (std::optional<FoundList> list = image_list_in(file)) {
    return look_at_list(file, std::move(*list));
  }
  const std::string ending = lower_case(file.extension().string());
  if (ending != ".csv" && ending != ".tsv") return look_at_text(file);
  StarterData found{.name = plain_name(file.stem().string()), .path = file};
  found.rows = look_at_rows(file);
  const bool texts = std::holds_alternative<TextsOptions>(found.rows->source);
  found.kind = texts ? StarterKind::texts : StarterKind::table;
  return found;
}

/// YAML files, which are to have it, are UTF-8.
void require_utf8_name(std::string_view name) {
  for (; !name.empty(); name.remove_prefix(utf8_length(name))) {
    if (utf8_length(name) > 0) continue;
    refuse_command("the name of the data is not UTF-8, so that no config can have it; rename it");
  }
}

}  // namespace

StarterData look_at_data(const std::string& data) {
  require_utf8_name(data);
  std::vector<std::string> names;
  for (const KnownName& known : kKnownNames) {
    if (data == known.name) {
      return {.kind = known.kind, .name = data, .images = {.outputs = 10, .side = 32}};
    }
    names.emplace_back(known.name);
  }
  std::error_code ignored;
  const fs::path path = without_end_slash(data);
  if (fs::is_directory(path, ignored)) return look_at_folder(path);
  if (fs::is_regular_file(path, ignored)) return look_at_file(path);
  std::string hint = config::suggestion(data, names);
  if (hint.empty()) hint = config::near_file(path);
  refuse_command("'" + data +
                 "' is neither a folder or list of images nor a text file, nor one of the sets " +
                 joined(names) + hint);
}

}  // namespace trainyard
