#include "checkpoint/checkpoint_files.h"

#include <system_error>
#include <utility>

#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/tensor_slots.h"

namespace trainyard {
namespace {

/// Room for folders, the manifest and the last block of each file.
constexpr std::uint64_t kSpareBytes = 1u << 20;

void require_finite(const CheckpointContent& content, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::diverged, "checkpoint " + name + " is not written: " + what +
                                         "; earlier checkpoints are untouched");
  };
  for (const auto& [file, tensors] : content.files) {
    for (const NamedTensor& tensor : tensors) {
      const auto found = non_finite_element(tensor);
      if (found) refuse("'" + tensor.name + "' of " + file + " holds " + *found);
    }
  }
  const auto found = non_finite_number(content.state);
  if (found) refuse(std::string(kStateName) + " holds a number that is not finite at " + *found);
}

ManifestFile write_parts(const Disk& disk, const fs::path& path, FileParts parts) {
  Hash128 hash;
  std::uint64_t bytes = 0;
  for (const auto& part : parts) {
    hash.update(part);
    bytes += part.size();
  }
  disk.write_file(path, parts);
  return {bytes, hash.hex()};
}

ManifestFile write_text(const Disk& disk, const fs::path& path, const std::string& text) {
  const std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span<const char>(text.data(), text.size()))};
  return write_parts(disk, path, parts);
}

void write_content(const Disk& disk, const fs::path& path, const CheckpointContent& content) {
  Manifest manifest{.epoch = content.epoch, .step = content.step, .run = content.run, .files = {}};
  for (const auto& [name, tensors] : content.files) {
    const SafetensorsImage image = encode_safetensors(tensors, {{"format", "trainyard"}});
    manifest.files[name] = write_parts(disk, path / name, image.parts());
  }
  manifest.files[kStateName] = write_text(disk, path / kStateName, json_text(content.state));
  (void)write_text(disk, path / kManifestName, manifest_text(manifest));
  disk.sync_folder(path);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Cleans up after a killed process. A replaced folder is removed only if its successor exists;
/// otherwise it is the one that counts, and gets its name back.
void clean_up(const Disk& disk, const fs::path& folder) {
  for (const fs::path& path : entries_of(folder)) {
    const std::string name = path.filename().string();
    if (name.starts_with(kTemporaryPrefix)) disk.remove(path);
    if (!name.starts_with(kReplacedPrefix)) continue;
    const fs::path successor = folder / name.substr(std::string(kReplacedPrefix).size());
    if (is_there(successor)) {
      disk.remove(path);
    } else {
      disk.rename(path, successor);
    }
  }
}

/// Gives the temporary folder its final name, replacing an older one of the same step.
void put_in_place(const Disk& disk, const fs::path& temporary, const fs::path& target) {
  const fs::path replaced = target.parent_path() / (kReplacedPrefix + target.filename().string());
  const bool replaces = is_there(target);
  if (replaces) disk.rename(target, replaced);
  try {
    disk.rename(temporary, target);
  } catch (...) {
    std::error_code ignored;
    if (replaces && !is_there(target)) fs::rename(replaced, target, ignored);
    throw;
  }
  if (replaces) disk.remove(replaced);
}

void point(const Disk& disk, const fs::path& folder, const std::string& pointer,
           const std::string& name) {
  if (checkpoint_pointer(folder, pointer) == name) return;
  disk.replace_file(folder / pointer, name + "\n");
}

/// Removes checkpoints that are neither among the newest nor pointed to. Checkpoints of later steps
/// than `newest` are not counted and stay.
void remove_older(const Disk& disk, const fs::path& folder, const CheckpointEntry& newest,
                  const std::string& best, std::int64_t keep) {
  std::int64_t kept = 0;
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    if (entry.step > newest.step || ++kept <= keep || entry.file_name == best) continue;
    disk.remove(folder / entry.file_name);
  }
}

/// Checkpoints of later steps than the one just saved are damaged: the run could not resume from
/// them.
void remove_later(const Disk& disk, const fs::path& folder, const CheckpointEntry& saved,
                  const std::string& best) {
  for (const CheckpointEntry& entry : list_checkpoints(folder)) {
    if (entry.step > saved.step && entry.file_name != best) disk.remove(folder / entry.file_name);
  }
}

}  // namespace

std::uint64_t checkpoint_bytes(const CheckpointContent& content) {
  std::uint64_t bytes = kSpareBytes + json_text(content.state).size();
  for (const auto& [name, tensors] : content.files) {
    for (const NamedTensor& tensor : tensors) {
      // The header's share: name, dtype, shape and offsets.
      bytes += tensor.bytes.size() + tensor.name.size() + 160;
    }
  }
  return bytes;
}

void require_checkpoint_space(const Disk& disk, const fs::path& folder,
                              const CheckpointContent& content) {
  const std::uint64_t needed = checkpoint_bytes(content);
  const std::uint64_t free = disk.free_bytes(folder);
  if (free >= needed) return;
  throw disk_error("cannot save a checkpoint in '" + folder.string() +
                   "': " + with_separators(static_cast<std::int64_t>(needed)) + " bytes needed, " +
                   with_separators(static_cast<std::int64_t>(free)) +
                   " free; free some space or choose another folder with --out");
}

fs::path save_checkpoint(const Disk& disk, const fs::path& folder, const CheckpointContent& content,
                         const CheckpointOptions& options) {
  const std::string name = checkpoint_name(content.epoch, content.step);
  TY_CHECK(options.keep >= 1, "at least one checkpoint is kept");
  require_finite(content, name);
  require_checkpoint_space(disk, folder, content);
  disk.make_folders(folder);
  clean_up(disk, folder);

  const fs::path temporary = folder / (kTemporaryPrefix + name);
  const fs::path target = folder / name;
  try {
    disk.make_folders(temporary);
    write_content(disk, temporary, content);
    put_in_place(disk, temporary, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw;
  }
  const CheckpointEntry saved{name, content.epoch, content.step};
  point(disk, folder, "last", name);
  if (options.is_best) point(disk, folder, "best", name);
  const std::string best = checkpoint_pointer(folder, "best");
  remove_later(disk, folder, saved, best);
  remove_older(disk, folder, saved, best, options.keep);
  return target;
}

void settle_checkpoints(const Disk& disk, const fs::path& folder, const CheckpointEntry& newest,
                        const std::optional<CheckpointEntry>& best, std::int64_t keep) {
  clean_up(disk, folder);
  point(disk, folder, "last", checkpoint_name(newest.epoch, newest.step));
  const std::string name = best ? checkpoint_name(best->epoch, best->step) : "";
  std::error_code ignored;
  if (best) {
    point(disk, folder, "best", name);
  } else if (fs::is_regular_file(folder / "best", ignored)) {
    disk.remove(folder / "best");
  }
  remove_older(disk, folder, newest, name, keep);
}

namespace {

constexpr std::uint64_t kMostManifestBytes = 1u << 20;
constexpr std::uint64_t kMostPointerBytes = 256;

[[noreturn]] void damaged(const fs::path& path, const std::string& what) {
  throw checkpoint_error(path.string() + ": damaged: " + what);
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

/// Reads the files that `wants` names.
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
  throw checkpoint_error("no usable checkpoint in '" + folder.string() + "':" + shown(warnings) +
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
