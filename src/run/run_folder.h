// The folder of a run: a single writer, fixed names, no partially written files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "checkpoint/manifest.h"

namespace trainyard {

/// An open run folder. Holds the lock on it until it is destroyed.
class RunFolder {
 public:
  /// Makes `root`/`name`/0001, or the next free number: mkdir(2) decides among processes. Throws
  /// Error{disk} naming the folder if `root` cannot be written, Error{command_line} if `name` is
  /// not a plain folder name.
  [[nodiscard]] static RunFolder create(const Disk& disk, const fs::path& root,
                                        const std::string& name);
  /// Makes `path`, or takes it if it is empty or contains only what a failed start left (--out).
  /// Throws Error{command_line} if it contains anything else or belongs to another run.
  [[nodiscard]] static RunFolder create_at(const Disk& disk, const fs::path& path);
  /// Throws what create(), or create_at(), would throw, as far as it can be determined without
  /// leaving anything behind.
  static void require_place(const Disk& disk, const fs::path& root, const std::string& name);
  static void require_place_at(const Disk& disk, const fs::path& path);
  /// Opens a run to continue it, and removes the temporary files of an earlier failure. Throws
  /// Error{command_line} if it is not a run folder, or another process is writing into it.
  [[nodiscard]] static RunFolder open(const Disk& disk, const fs::path& path);

  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] const Disk& disk() const { return *disk_; }
  [[nodiscard]] fs::path file(std::string_view name) const { return path_ / name; }
  [[nodiscard]] fs::path checkpoints() const { return path_ / "checkpoints"; }
  [[nodiscard]] fs::path weights() const { return path_ / "weights"; }
  [[nodiscard]] fs::path plots() const { return path_ / "plots"; }
  /// "samples", "eval", "logs": created on first use.
  [[nodiscard]] fs::path subfolder(std::string_view name) const;

  /// Adds a line to command.txt: the command of a resume.
  void add_command(std::string_view command) const;
  /// Removes what a start leaves before it writes the record, and the folders created for it. What
  /// cannot be removed stays, and can be reused.
  void discard() const;
  /// Replaces a whole file of the folder.
  void write(std::string_view name, std::string_view text) const;

 private:
  RunFolder(const Disk& disk, fs::path path);
  /// False if another process holds the lock.
  [[nodiscard]] bool lock();
  void make_subfolders() const;
  void remove_temporary_files() const;

  const Disk* disk_;
  fs::path path_;
  std::vector<fs::path> made_;  // folders that did not exist before, deepest first
  int lock_ = -1;
};

/// Throws Error{command_line} unless `name`, of a run, is that of a folder: no path leads out of
/// it.
void require_plain_name(const std::string& name);

/// Interprets `error_number`, the errno of a failed flock(2): true if another process holds the
/// lock `path`. Throws Error{disk} for any other reason.
[[nodiscard]] bool another_holds_lock(int error_number, const fs::path& path);

/// True if a process is writing into the run folder `path`. Throws Error{disk} if that cannot be
/// determined.
[[nodiscard]] bool is_locked(const fs::path& path);

/// True if `path` contains a run (a config.yaml and a status.json or checkpoints).
[[nodiscard]] bool is_run_folder(const fs::path& path);

/// The run with the highest number in `folder`, as runs/NAME has them. Empty if there is none.
[[nodiscard]] std::optional<fs::path> newest_run(const fs::path& folder);

/// The run of `root`/`name` with the highest number that has not completed. Empty if there is none.
[[nodiscard]] std::optional<fs::path> newest_unfinished_run(const fs::path& root,
                                                            const std::string& name);

/// The runs of `root`/`name` that completed with this config, the highest number first.
[[nodiscard]] std::vector<fs::path> completed_runs(const fs::path& root, const std::string& name,
                                                   std::string_view config_hash);

/// Which checkpoint of a run has its best weights. Each state.json knows the best epoch; the
/// pointer `best` is written after it, and may name an older one if the process died in between.
struct BestCheckpoint {
  std::int64_t epoch = 0;                          // 0: no epoch has been evaluated yet
  std::optional<CheckpointEntry> checkpoint = {};  // saved at its end; none: it is lost
};

/// The one that was saved at the end of `epoch`; none if it is missing or cannot be read.
[[nodiscard]] std::optional<CheckpointEntry> checkpoint_after_epoch(const fs::path& folder,
                                                                    std::int64_t epoch);

/// What the state of the newest checkpoint in `folder` says. Empty if there is none that can be
/// read.
[[nodiscard]] std::optional<BestCheckpoint> best_checkpoint(const fs::path& folder);

}  // namespace trainyard
