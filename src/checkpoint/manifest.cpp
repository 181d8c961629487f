#include "checkpoint/manifest.h"

#include "base/hash.h"
#include "formats/json_integer.h"

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
    throw Error(ErrorKind::checkpoint, source + ": not a checkpoint's manifest: " + error.what());
  }
  // Writing it again gives the same bytes unless something was changed.
  if (manifest_text(manifest) != text) {
    throw Error(ErrorKind::checkpoint, source + ": damaged: it is not what was written");
  }
  for (const auto& [name, file] : manifest.files) {
    if (!is_plain_name(name)) {
      throw Error(ErrorKind::checkpoint, source + ": '" + name + "' is not a plain file name");
    }
  }
  return manifest;
}

}  // namespace trainyard
