// MANIFEST.json of a checkpoint: size and XXH3-128 of each file, and of itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace trainyard {

struct ManifestFile {
  std::uint64_t bytes = 0;
  std::string xxh3_128;
  bool operator==(const ManifestFile&) const = default;
};

struct Manifest {
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::string run;  // id of the run that saved it; "" for runs from before ids existed
  std::map<std::string, ManifestFile> files;
  bool operator==(const Manifest&) const = default;
};

/// The file's text. Its last key is the hash of the text without that key, so that any changed byte
/// is detected.
[[nodiscard]] std::string manifest_text(const Manifest& manifest);
/// Throws Error{checkpoint} naming `source` unless `text` is, byte for byte, what manifest_text()
/// wrote, with plain file names.
[[nodiscard]] Manifest parse_manifest(const std::string& text, const std::string& source);

}  // namespace trainyard
