#include "checkpoint/manifest.h"

#include <algorithm>
#include <system_error>
#include <tuple>

#include "base/hash.h"
#include "base/text.h"
#include "formats/json.h"

namespace trainyard {

namespace {

constexpr int kManifestVersion = 1;
constexpr const char* kOwnHash = "manifest_xxh3_128";

Json json_of(const Manifest& manifest) {
  Json json;
  json["schema_version"] = kManifestVersion;
  json["epoch"] = manifest.epoch;
  json["step"] = manifest.step;
  // Written only if there is one: the text of a manifest from before ids existed must not change.
  if (!manifest.run.empty()) json["run"] = manifest.run;
  json["files"] = Json::object();
  for (const auto& [name, file] : manifest.files) {
    json["files"][name] = {{"bytes", file.bytes}, {"xxh3_128", file.xxh3_128}};
  }
  return json;
}

/// True for names that stay inside the folder.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

Manifest manifest_of(const Json& json) {
  Manifest manifest;
  manifest.epoch = integer_of(json.at("epoch"));
  manifest.step = integer_of(json.at("step"));
  manifest.run = json.value("run", "");
  for (const auto& [name, file] : json.at("files").items()) {
    manifest.files[name] = {file.at("bytes").get<std::uint64_t>(),
                            file.at("xxh3_128").get<std::string>()};
  }
  return manifest;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  Json json = json_of(manifest);
  json[kOwnHash] = hash128_hex(json_text(json));
  return json_text(json);
}

Manifest parse_manifest(const std::string& text, const std::string& source) {
  Manifest manifest;
  try {
    manifest = manifest_of(parse_json(text, {source, ErrorKind::checkpoint}));
  } catch (const Json::exception& error) {
    throw checkpoint_error(source + ": not a checkpoint's manifest: " + error.what());
  }
  // Writing it again gives the same bytes unless something was changed.
  if (manifest_text(manifest) != text) {
    throw checkpoint_error(source + ": damaged: it is not what was written");
  }
  for (const auto& [name, file] : manifest.files) {
    if (!is_plain_name(name)) {
      throw checkpoint_error(source + ": '" + name + "' is not a plain file name");
    }
  }
  return manifest;
}

namespace {

std::string padded(std::int64_t value, std::size_t width) {
  const std::string digits = std::to_string(value);
  return std::string(width > digits.size() ? width - digits.size() : 0, '0') + digits;
}

}  // namespace

std::string checkpoint_name(std::int64_t epoch, std::int64_t step) {
  return "epoch-" + padded(epoch, 4) + "_step-" + padded(step, 6);
}

std::optional<CheckpointEntry> parse_checkpoint_name(std::string_view file_name) {
  std::string_view name = file_name;
  if (name.starts_with(kReplacedPrefix))
    name.remove_prefix(std::string_view(kReplacedPrefix).size());
  constexpr std::string_view kEpoch = "epoch-";
  constexpr std::string_view kStep = "_step-";
  const std::size_t middle = name.find(kStep);
  if (!name.starts_with(kEpoch) || middle == std::string_view::npos) return std::nullopt;
  const auto epoch = parse_integer(name.substr(kEpoch.size(), middle - kEpoch.size()));
  const auto step = parse_integer(name.substr(middle + kStep.size()));
  if (!epoch || !step || checkpoint_name(*epoch, *step) != name) return std::nullopt;
  return CheckpointEntry{std::string(file_name), *epoch, *step};
}

std::vector<CheckpointEntry> list_checkpoints(const fs::path& folder) {
  std::vector<CheckpointEntry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const auto entry = parse_checkpoint_name(it->path().filename().string());
    if (entry && it->is_directory(error)) entries.push_back(*entry);
  }
  const auto age = [](const CheckpointEntry& entry) {
    const bool replaced = entry.file_name.starts_with(kReplacedPrefix);
    return std::tuple(-entry.step, -entry.epoch, replaced);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const CheckpointEntry& a, const CheckpointEntry& b) { return age(a) < age(b); });
  return entries;
}

}  // namespace trainyard
