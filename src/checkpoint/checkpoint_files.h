// Checkpoints on the disk: a folder each, whole or not there, every byte checked when it is read.
// Knows tensors, a JSON state and files; nothing of training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace trainyard {

/// What a checkpoint holds. Tensors lie in `copies` or in the caller's memory, which must not
/// change while it is saved.
struct CheckpointContent {
  std::int64_t epoch = 0;  // finished epochs
  std::int64_t step = 0;   // finished optimizer steps
  std::string run;         // id of the run
  /// "weights.safetensors" and its tensors, and so on.
  std::map<std::string, std::vector<NamedTensor>> files;
  Json state;
  std::vector<std::vector<std::byte>> copies = {};
};

struct CheckpointOptions {
  bool is_best = false;   // the pointer `best` moves to this one
  std::int64_t keep = 2;  // newest ones that stay, at least 1; `best` and `last` stay always
};

/// A checkpoint read back, every file checked against its manifest.
struct LoadedCheckpoint {
  std::filesystem::path path;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::string run;  // id of the run that saved it; "" of runs made before ids
  std::map<std::string, SafetensorsFile> files;
  Json state;
  /// What was wrong with newer ones, a line each; empty if this is the newest.
  std::vector<std::string> warnings;
};

/// "epoch-0010_step-003910".
[[nodiscard]] std::string checkpoint_name(std::int64_t epoch, std::int64_t step);

/// Bytes that saving takes, at most.
[[nodiscard]] std::uint64_t checkpoint_bytes(const CheckpointContent& content);

/// Throws Error{disk} if the disk of `folder`, which need not be there yet, has less room than
/// that.
void require_checkpoint_space(const Disk& disk, const std::filesystem::path& folder,
                              const CheckpointContent& content);

/// Saves into `folder` (`runs/x/0001/checkpoints`) and returns the new folder's path. Order: free
/// space, temporary folder, each file with fsync, MANIFEST.json last, fsync, rename, fsync of
/// `folder`, the pointers, and only then older ones are removed. Throws Error{diverged}, before
/// anything is written, if a tensor or the state holds a number that is not finite, and Error{disk}
/// if the disk fails; what was saved before stays usable.
std::filesystem::path save_checkpoint(const Disk& disk, const std::filesystem::path& folder,
                                      const CheckpointContent& content,
                                      const CheckpointOptions& options);

/// The newest good checkpoint of `folder`, with a warning for each newer bad one. Empty if none was
/// ever written. Throws Error{checkpoint} that lists what is wrong if all are bad.
[[nodiscard]] std::optional<LoadedCheckpoint> load_newest_checkpoint(
    const std::filesystem::path& folder);

/// One checkpoint. Throws Error{checkpoint} naming the file that is damaged.
[[nodiscard]] LoadedCheckpoint load_checkpoint(const std::filesystem::path& path);

/// One safetensors file of a checkpoint, without the others. Throws as load_checkpoint() does.
[[nodiscard]] SafetensorsFile load_checkpoint_file(const std::filesystem::path& path,
                                                   const std::string& name);

/// The name that the one-line file `pointer` ("last" or "best") holds; empty if it is missing or
/// does not hold a checkpoint's name.
[[nodiscard]] std::string checkpoint_pointer(const std::filesystem::path& folder,
                                             const std::string& pointer);

}  // namespace trainyard
