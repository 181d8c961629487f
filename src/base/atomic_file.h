// The only unit that writes files into a run folder: whole files or none, whole rows, folders, and
// errors that say what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"

namespace trainyard {

/// System calls that change the disk.
enum class DiskCall { open, write, fsync, rename, mkdir, close };

/// Called before each such call: 0 lets it proceed, an errno value makes it fail. Tests count calls
/// with it; the program passes none.
using FailurePlan = std::function<int(DiskCall)>;

struct OutputPlace;  // see output_place.h

/// A whole file in pieces.
using FileParts = std::span<const std::span<const std::byte>>;

/// Changes files and folders durably. Every failure throws Error{disk} that names the path, the
/// system's reason and, if space ran out, the bytes needed and free.
class Disk {
 public:
  Disk() = default;
  /// For tests: calls fail as `plan` says; `free_bytes`, if given, is the result of free_bytes().
  explicit Disk(FailurePlan plan, std::optional<std::uint64_t> free_bytes = std::nullopt);

  /// Writes a new file and flushes it to disk (fsync). For files in a folder that gets its final
  /// name later; a failure may leave a partial file.
  void write_file(const fs::path& path, FileParts parts) const;
  /// Replaces `path` atomically: temporary file next to it, fsync, rename, fsync of the folder. On
  /// failure the old file remains.
  void replace_file(const fs::path& path, FileParts parts) const;
  void replace_file(const fs::path& path, std::string_view text) const;
  /// The file that a flag names, written as `>` of a shell does: an ordinary file is replaced, also
  /// one behind links, and keeps its permissions; a device, a pipe, or a file that this process has
  /// open (-, /dev/stdout, /dev/fd/63) is written where it is. A pipe without a reader is an error
  /// after a few seconds.
  void write_output(const fs::path& path, FileParts parts) const;
  void write_output(const fs::path& path, std::string_view text) const;
  /// Renames a file or folder and flushes the change to disk.
  void rename(const fs::path& from, const fs::path& to) const;

  /// One mkdir(2): true if this call made the folder, false if the name already existed.
  [[nodiscard]] bool make_folder(const fs::path& path) const;
  /// Makes the folder and its parents durably; existing folders are fine, a file in the way is not.
  void make_folders(const fs::path& path) const;
  /// Checks that files can be created in a folder or, if it does not exist yet, in its nearest
  /// existing parent. Leaves nothing behind.
  void try_folder(const fs::path& path) const;
  /// fsync of a folder: flushes its entries to disk.
  void sync_folder(const fs::path& path) const;
  /// Removes a file, or a folder with its contents; a missing one is fine.
  void remove(const fs::path& path) const;
  /// Bytes that this user can still write to the file system of `path`.
  [[nodiscard]] std::uint64_t free_bytes(const fs::path& path) const;

 private:
  friend class AppendFile;
  friend class ScratchFolder;

  [[nodiscard]] int planned(DiskCall call) const { return plan_ ? plan_(call) : 0; }
  /// Messages call the file `named`, as in the next.
  [[nodiscard]] int open_for_writing(const fs::path& path, int flags, const fs::path& named) const;
  void replace(const fs::path& path, FileParts parts, std::optional<unsigned> permissions) const;
  [[nodiscard]] int try_to_make(std::string& temporary) const;
  [[nodiscard]] int open_in_place(const OutputPlace& place, const fs::path& named) const;
  void write_to(const fs::path& place, int flags, const fs::path& named, FileParts parts) const;
  void write_and_close(int descriptor, const fs::path& named, FileParts parts) const;
  void write_all(int descriptor, std::span<const std::byte> bytes, const fs::path& path) const;
  void sync(int descriptor, const fs::path& path) const;
  void close(int descriptor, const fs::path& path) const;
  [[noreturn]] void fail(std::string_view doing, const fs::path& path, int error_number,
                         std::uint64_t needed_bytes = 0) const;

  FailurePlan plan_;
  std::optional<std::uint64_t> free_bytes_;
};

/// The paths of a folder's entries, in no order. Throws Error{disk} if it cannot be read.
[[nodiscard]] std::vector<fs::path> entries_of(const fs::path& folder);

/// A folder of this user alone, whose name no one can guess, removed with the object.
class ScratchFolder {
 public:
  /// Makes it in `folder`. Throws Error{disk}.
  ScratchFolder(const Disk& disk, const fs::path& folder);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A file that grows by whole rows. Not copyable; closed with the object.
class AppendFile {
 public:
  /// Opens or makes `path`; `disk` must outlive this object.
  AppendFile(const Disk& disk, const fs::path& path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;

  /// One write(2) per row. If only a part is written, that part is cut off again and Error{disk} is
  /// thrown, so that the file holds whole rows only.
  void append(std::string_view row);
  /// Flushes all rows to disk.
  void sync();

 private:
  const Disk& disk_;
  fs::path path_;
  int descriptor_ = -1;
};

}  // namespace trainyard
