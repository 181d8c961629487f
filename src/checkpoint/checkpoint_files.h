// Checkpoints on disk: one folder each, complete or absent, every byte checked when read. Knows
// tensors, a JSON state and files, but nothing about training.
//
// The folder checkpoint also holds the slots of a model by tensor name, which saving and loading
// walk. It knows neither the run folder nor how training works.
//
// A checkpoint holds nothing of ranks. With two copies of the weights, weights.safetensors is the
// one that is evaluated.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "checkpoint/manifest.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace trainyard {

/// The content of a checkpoint. Tensors are in `copies` or in the caller's memory, which must not
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
  std::int64_t keep = 2;  // newest ones to keep, at least 1; `best` and `last` are always kept
};

/// A checkpoint read back, every file checked against its manifest.
struct LoadedCheckpoint {
  fs::path path;
  std::int64_t epoch = 0;
  std::int64_t step = 0;
  std::string run;  // id of the run that saved it; "" for runs from before ids existed
  std::map<std::string, SafetensorsFile> files;
  Json state;
  /// What was wrong with newer ones, one line each; empty if this is the newest.
  std::vector<std::string> warnings;
};

/// The most bytes that saving takes.
[[nodiscard]] std::uint64_t checkpoint_bytes(const CheckpointContent& content);

/// Throws Error{disk} if the disk of `folder`, which need not exist yet, has less room than that.
void require_checkpoint_space(const Disk& disk, const fs::path& folder,
                              const CheckpointContent& content);

/// Saves into `folder` (`runs/x/0001/checkpoints`) and returns the new folder's path. Order: free
/// space, temporary folder, each file with fsync, MANIFEST.json last, fsync, rename, fsync of
/// `folder`, the pointers, and only then older ones are removed. Throws Error{diverged}, before
/// anything is written, if a tensor or the state contains a number that is not finite, and
/// Error{disk} if the disk fails; checkpoints saved before stay usable.
fs::path save_checkpoint(const Disk& disk, const fs::path& folder, const CheckpointContent& content,
                         const CheckpointOptions& options);

/// What save_checkpoint() does last, for a folder whose last save may have been cut off: cleans up,
/// lets `last` name `newest` and `best` name `best` (none: removes the pointer), and removes all
/// but these, the `keep` newest and those of later steps, which are damaged.
void settle_checkpoints(const Disk& disk, const fs::path& folder, const CheckpointEntry& newest,
                        const std::optional<CheckpointEntry>& best, std::int64_t keep);

/// The newest good checkpoint of `folder`, with a warning for each newer bad one. Empty if none was
/// ever written. Throws Error{checkpoint} that lists what is wrong if all are bad.
[[nodiscard]] std::optional<LoadedCheckpoint> load_newest_checkpoint(const fs::path& folder);

/// One checkpoint. Throws Error{checkpoint} naming the file that is damaged.
[[nodiscard]] LoadedCheckpoint load_checkpoint(const fs::path& path);

/// The same without its tensors, of which nothing is read.
[[nodiscard]] LoadedCheckpoint load_checkpoint_state(const fs::path& path);

/// One safetensors file of a checkpoint, without the others. Throws like load_checkpoint().
[[nodiscard]] SafetensorsFile load_checkpoint_file(const fs::path& path, const std::string& name);

/// The name in the one-line file `pointer` ("last" or "best"); empty if it is missing or does not
/// contain the name of a checkpoint.
[[nodiscard]] std::string checkpoint_pointer(const fs::path& folder, const std::string& pointer);

}  // namespace trainyard
