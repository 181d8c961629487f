#include <utility>

#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/manifest.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMostManifestBytes = 1u << 20;
constexpr std::uint64_t kMostPointerBytes = 256;

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
  throw Error(ErrorKind::checkpoint, path.string() + ": damaged: " + what);
}

/// The file's bytes, after checking that they are those that were written.
std::vector<std::byte> read_checked(const fs::path& path, const ManifestFile& expected) {
  const InputFile file(path, ErrorKind::checkpoint);
  if (file.size() != expected.bytes) {
    damaged(path, "it has " + std::to_string(file.size()) + " bytes, " +
                      std::to_string(expected.bytes) + " were written");
  }
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  const std::string found = hash128_hex(bytes);
  if (found != expected.xxh3_128) {
    damaged(path,
            "its XXH3-128 is " + found + ", that of the bytes written is " + expected.xxh3_128);
  }
  return bytes;
}

Manifest manifest_of(const fs::path& checkpoint) {
  const fs::path path = checkpoint / kManifestName;
  return parse_manifest(read_text(path, ErrorKind::checkpoint, kMostManifestBytes), path.string());
}

std::string shown(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

}  // namespace

namespace {

/// Of the files those that `wants` names.
template <class Wants>
LoadedCheckpoint loaded_parts(const fs::path& path, const Wants& wants) {
  const Manifest manifest = manifest_of(path);
  LoadedCheckpoint loaded;
  loaded.path = path;
  loaded.epoch = manifest.epoch;
  loaded.step = manifest.step;
  loaded.run = manifest.run;
  for (const auto& [name, expected] : manifest.files) {
    if (!wants(name)) continue;
    std::vector<std::byte> bytes = read_checked(path / name, expected);
    const std::string source = (path / name).string();
    if (name == kStateName) {
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      loaded.state = parse_json(text, {source, ErrorKind::checkpoint});
    } else {
      loaded.files.emplace(name,
                           SafetensorsFile::parse(std::move(bytes), source, ErrorKind::checkpoint));
    }
  }
  return loaded;
}

}  // namespace

LoadedCheckpoint load_checkpoint(const fs::path& path) {
  return loaded_parts(path, [](const std::string&) { return true; });
}

LoadedCheckpoint load_checkpoint_state(const fs::path& path) {
  return loaded_parts(path, [](const std::string& name) { return name == kStateName; });
}

SafetensorsFile load_checkpoint_file(const fs::path& path, const std::string& name) {
  const Manifest manifest = manifest_of(path);
  const auto expected = manifest.files.find(name);
  if (expected == manifest.files.end()) damaged(path, "it has no " + name);
  return SafetensorsFile::parse(read_checked(path / name, expected->second), (path / name).string(),
                                ErrorKind::checkpoint);
}

std::optional<LoadedCheckpoint> load_newest_checkpoint(const fs::path& folder) {
  std::vector<std::string> warnings;
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    try {
      LoadedCheckpoint loaded = load_checkpoint(folder / entry.file_name);
      if (loaded.epoch != entry.epoch || loaded.step != entry.step) {
        damaged(loaded.path,
                "its manifest is that of " + checkpoint_name(loaded.epoch, loaded.step));
      }
      loaded.warnings = std::move(warnings);
      return loaded;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::checkpoint) throw;
      warnings.emplace_back(error.what());
    }
  }
  if (warnings.empty()) return std::nullopt;
  throw Error(ErrorKind::checkpoint, "no usable checkpoint in '" + folder.string() +
                                         "':" + shown(warnings) +
                                         "\nstart again in a new folder, or restore one of them");
}

std::string checkpoint_pointer(const fs::path& folder, const std::string& pointer) {
  try {
    const std::string text = read_text(folder / pointer, ErrorKind::checkpoint, kMostPointerBytes);
    const std::string name(trimmed(text));
    const bool is_name = !name.starts_with(kReplacedPrefix) && parse_checkpoint_name(name);
    return is_name ? name : "";
  } catch (const Error&) {
    return "";  // missing: as if never written
  }
}

}  // namespace trainyard
