#include "compute/conv/choice_cache.h"

#include <fmt/format.h>

#include <cctype>

#include "base/atomic_file.h"
#include "base/read_file.h"

namespace trainyard {
namespace {

constexpr std::uint64_t kLargestFile = 16 << 20;  // thousands of graphs of a kilobyte each

const Json& member(const Json& json, const std::string& source, const std::string& key) {
  if (!json.is_object() || !json.contains(key)) {
    throw data_error(fmt::format("{}: the key '{}' is missing", source, key));
  }
  return json[key];
}

}  // namespace

std::string ChoiceCache::file_name(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name;
}

ChoiceCache::ChoiceCache(Settings settings) : settings_(std::move(settings)) {
  if (!settings_.path.empty()) entries_ = read();
}

ChoiceCache::Entries ChoiceCache::read() const {
  std::error_code failed;
  if (!fs::exists(settings_.path, failed)) return {};
  try {
    return parse(read_text(settings_.path, ErrorKind::data, kLargestFile));
  } catch (const Error& error) {
    settings_.warn(
        fmt::format("the engine cache is damaged, engines are timed again: {}", error.what()));
    return {};
  }
}

ChoiceCache::Entries ChoiceCache::parse(const std::string& text) const {
  const std::string source = settings_.path.string();
  const Json json = parse_json(text, {.name = source, .kind = ErrorKind::data});
  for (const auto& [key, value] : settings_.identity) {
    if (member(json, source, key) != Json(value)) {
      throw data_error(fmt::format("{}: expected choices for {}", source, settings_.owner));
    }
  }
  const Json& choices = member(json, source, "choices");
  if (!choices.is_object()) {
    throw data_error(fmt::format("{}: 'choices' is not an object", source));
  }
  Entries entries;
  for (const auto& [key, value] : choices.items()) {
    if (!member(value, source, "microseconds").is_number()) {
      throw data_error(fmt::format("{}: 'microseconds' is not a number", source));
    }
    settings_.check(value, source);
    entries[key] = value;
  }
  return entries;
}

std::optional<Json> ChoiceCache::find(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

void ChoiceCache::keep(const std::string& key, Json choice, double microseconds) {
  choice["microseconds"] = microseconds;
  entries_[key] = std::move(choice);
  changed_ = true;
}

void ChoiceCache::forget(const std::string& key, const std::string& reason) {
  settings_.warn(fmt::format("a stored engine is not accepted and is timed again: {}", reason));
  entries_.erase(key);
}

void ChoiceCache::save() {
  if (settings_.path.empty() || !changed_ || refused_) return;
  Entries all = read();
  for (const auto& [key, entry] : entries_) all[key] = entry;
  Json choices = Json::object();
  for (const auto& [key, entry] : all) choices[key] = entry;
  Json file = Json::object();
  for (const auto& [key, value] : settings_.identity) file[key] = value;
  file["choices"] = std::move(choices);
  try {
    const Disk disk;
    disk.make_folders(settings_.path.parent_path());
    disk.replace_file(settings_.path, json_text(file));
    changed_ = false;
  } catch (const Error& error) {
    refused_ = true;
    settings_.warn(fmt::format("the chosen engines are not saved: {}", error.what()));
  }
}

}  // namespace trainyard
