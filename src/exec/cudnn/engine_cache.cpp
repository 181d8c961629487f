#include "exec/cudnn/engine_cache.h"

#include <fmt/format.h>

#include <cctype>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/read_file.h"

namespace trainyard::cudnn {
namespace {

constexpr std::uint64_t kLargestFile = 16 << 20;  // thousands of graphs of a kilobyte each

std::string file_name(std::string_view gpu, std::string_view cudnn_version) {
  std::string name = fmt::format("{}_cudnn-{}.json", gpu, cudnn_version);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  return name;
}

const Json& member(const Json& json, const std::string& source, const char* key) {
  if (!json.is_object() || !json.contains(key)) {
    throw Error(ErrorKind::data, fmt::format("{}: the key '{}' is missing", source, key));
  }
  return json[key];
}

}  // namespace

EngineCache::EngineCache(std::filesystem::path folder, std::string gpu, std::string cudnn_version,
                         Warn warn)
    : gpu_(std::move(gpu)), cudnn_version_(std::move(cudnn_version)), warn_(std::move(warn)) {
  if (folder.empty()) return;
  path_ = std::move(folder) / file_name(gpu_, cudnn_version_);
  entries_ = read();
}

EngineCache::Entries EngineCache::read() const {
  std::error_code failed;
  if (!std::filesystem::exists(path_, failed)) return {};
  try {
    return parse(read_text(path_, ErrorKind::data, kLargestFile));
  } catch (const Error& error) {
    warn_(fmt::format("the engine cache is damaged, engines are timed again: {}", error.what()));
    return {};
  }
}

EngineCache::Entries EngineCache::parse(const std::string& text) const {
  const std::string source = path_.string();
  const Json json = parse_json(text, {.name = source, .kind = ErrorKind::data});
  if (member(json, source, "gpu") != Json(gpu_) ||
      member(json, source, "cudnn") != Json(cudnn_version_)) {
    throw Error(ErrorKind::data, fmt::format("{}: expected choices for {} with cuDNN {}", source,
                                             gpu_, cudnn_version_));
  }
  const Json& choices = member(json, source, "choices");
  if (!choices.is_object()) {
    throw Error(ErrorKind::data, fmt::format("{}: 'choices' is not an object", source));
  }
  Entries entries;
  for (const auto& [key, value] : choices.items()) {
    const Json& time = member(value, source, "microseconds");
    if (!time.is_number()) {
      throw Error(ErrorKind::data, fmt::format("{}: 'microseconds' is not a number", source));
    }
    entries[key] = {choice_of(value, source), time.get<double>()};
  }
  return entries;
}

std::optional<EngineChoice> EngineCache::find(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return std::nullopt;
  return found->second.choice;
}

void EngineCache::keep(const std::string& key, const EngineChoice& choice, double microseconds) {
  entries_[key] = {choice, microseconds};
  changed_ = true;
}

void EngineCache::forget(const std::string& key, const std::string& reason) {
  warn_(fmt::format("a stored engine is not accepted and is timed again: {}", reason));
  entries_.erase(key);
}

void EngineCache::save() {
  if (path_.empty() || !changed_ || refused_) return;
  Entries all = read();
  for (const auto& [key, entry] : entries_) all[key] = entry;
  Json choices = Json::object();
  for (const auto& [key, entry] : all) {
    choices[key] = json_of(entry.choice);
    choices[key]["microseconds"] = entry.microseconds;
  }
  const Json file{{"gpu", gpu_}, {"cudnn", cudnn_version_}, {"choices", std::move(choices)}};
  try {
    const Disk disk;
    disk.make_folders(path_.parent_path());
    disk.replace_file(path_, json_text(file));
    changed_ = false;
  } catch (const Error& error) {
    refused_ = true;
    warn_(fmt::format("the chosen engines are not saved: {}", error.what()));
  }
}

}  // namespace trainyard::cudnn
