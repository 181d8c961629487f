#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr const char* kTemporaryFolder = ".tmp-XXXXXX";  // for mkdtemp(3)

fs::path folder_of(const fs::path& path) {
  const fs::path parent = path.parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// The nearest folder that exists, for questions about the file system.
fs::path existing_folder_of(fs::path path) {
  std::error_code ignored;
  while (!fs::is_directory(path, ignored) && path != folder_of(path)) path = folder_of(path);
  return path;
}

std::string advice_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; choose a folder you can write to";
    case EFBIG:
      return "; raise the file-size limit (ulimit -f), then resume";
    case EISDIR:
      return "; move it away, then try again";
    default:
      return "";
  }
}

/// If `path` is a pipe, a socket or a device, closes `descriptor` if it is open and throws
/// Error{disk}. A folder is left to open(2), which refuses it.
void require_regular(int descriptor, const fs::path& path) {
  struct stat status = {};
  const int result = descriptor >= 0 ? ::fstat(descriptor, &status) : ::stat(path.c_str(), &status);
  if (result != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) return;
  if (descriptor >= 0) ::close(descriptor);
  throw disk_error("cannot write '" + path.string() +
                   "': it is not a regular file; move it away, then try again");
}

/// A name beside `path` that no other process uses or guesses.
fs::path temporary_for(const fs::path& path) {
  std::array<unsigned, 2> drawn{};
  if (::getentropy(drawn.data(), sizeof drawn) != 0) {
    throw disk_error("cannot draw the name of a temporary file: " +
                     std::generic_category().message(errno));
  }
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%08x%08x", drawn[0], drawn[1]);
  return folder_of(path) / (std::string(".tmp-") + digits.data());
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

Disk::Disk(FailurePlan plan, std::optional<std::uint64_t> free_bytes)
    : plan_(std::move(plan)), free_bytes_(free_bytes) {}

void Disk::fail(std::string_view doing, const fs::path& path, int error_number,
                std::uint64_t needed_bytes) const {
  std::string text = "cannot " + std::string(doing) + " '" + path.string() +
                     "': " + std::generic_category().message(error_number);
  if (needed_bytes > 0) {
    text += " (" + with_separators(static_cast<std::int64_t>(needed_bytes)) + " bytes needed, " +
            with_separators(static_cast<std::int64_t>(free_bytes(path))) + " free)";
  }
  throw disk_error(text + advice_for(error_number));
}

int Disk::open_for_writing(const fs::path& path, int flags, const fs::path& named) const {
  int error_number = planned(DiskCall::open);
  if (error_number == 0) {
    // O_NONBLOCK: opening a pipe must not wait for its reader; regular files ignore it.
    const int descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | flags, 0666);
    error_number = errno;
    require_regular(descriptor, path);
    if (descriptor >= 0) return descriptor;
    if (error_number == ELOOP) {
      throw disk_error(
          "cannot write '" + path.string() +
          "': it is a link, and links are not followed here; remove it, then try again");
    }
  }
  fail("write", named, error_number);
}

void Disk::write_all(int descriptor, std::span<const std::byte> bytes, const fs::path& path) const {
  constexpr std::size_t kMostBytesACall = std::size_t{8} << 20;
  while (!bytes.empty()) {
    int error_number = planned(DiskCall::write);
    if (error_number == 0) {
      const ssize_t count =
          ::write(descriptor, bytes.data(), std::min(bytes.size(), kMostBytesACall));
      if (count > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(count));
        continue;
      }
      error_number = count == 0 ? ENOSPC : errno;
    }
    if (error_number != EINTR) fail("write", path, error_number, bytes.size());
  }
}

void Disk::sync(int descriptor, const fs::path& path) const {
  int error_number = planned(DiskCall::fsync);
  if (error_number == 0 && ::fsync(descriptor) != 0) error_number = errno;
  // EINVAL: special file systems that have nothing to flush to a disk.
  if (error_number != 0 && error_number != EINVAL) fail("flush to disk", path, error_number);
}

void Disk::close(int descriptor, const fs::path& path) const {
  const int error_number = planned(DiskCall::close);
  const int result = ::close(descriptor);
  if (error_number != 0) fail("close", path, error_number);
  if (result != 0 && errno != EINTR) fail("close", path, errno);
}

void Disk::write_to(const fs::path& place, int flags, const fs::path& named,
                    FileParts parts) const {
  write_and_close(open_for_writing(place, flags, named), named, parts);
}

void Disk::write_and_close(int descriptor, const fs::path& named, FileParts parts) const {
  try {
    for (const auto& part : parts) write_all(descriptor, part, named);
    sync(descriptor, named);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  close(descriptor, named);
}

void Disk::write_file(const fs::path& path, FileParts parts) const {
  write_to(path, O_TRUNC | O_NOFOLLOW, path, parts);
}

void Disk::replace_file(const fs::path& path, FileParts parts) const {
  replace(path, parts, std::nullopt);
}

void Disk::replace(const fs::path& path, FileParts parts,
                   std::optional<unsigned> permissions) const {
  const fs::path temporary = temporary_for(path);
  try {
    write_to(temporary, O_EXCL | O_NOFOLLOW, path, parts);
    if (permissions && ::chmod(temporary.c_str(), *permissions) != 0) fail("write", path, errno);
    rename(temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void Disk::replace_file(const fs::path& path, std::string_view text) const {
  const std::array<std::span<const std::byte>, 1> parts = {bytes_of(text)};
  replace_file(path, parts);
}

void Disk::rename(const fs::path& from, const fs::path& to) const {
  int error_number = planned(DiskCall::rename);
  if (error_number == 0 && ::rename(from.c_str(), to.c_str()) != 0) error_number = errno;
  if (error_number != 0) fail("rename '" + from.string() + "' to", to, error_number);
  sync_folder(folder_of(to));
}

bool Disk::make_folder(const fs::path& path) const {
  int error_number = planned(DiskCall::mkdir);
  if (error_number == 0) {
    if (::mkdir(path.c_str(), 0777) == 0) return true;
    error_number = errno;
  }
  if (error_number == EEXIST) return false;
  fail("make the folder", path, error_number);
}

void Disk::make_folders(const fs::path& path) const {
  std::error_code ignored;
  if (path.empty() || fs::is_directory(path, ignored)) return;
  make_folders(path.parent_path());
  if (make_folder(path)) {
    sync_folder(folder_of(path));
  } else if (!fs::is_directory(path, ignored)) {
    fail("make the folder", path, ENOTDIR);  // a file; a folder may be another process's
  }
}

void Disk::try_folder(const fs::path& path) const {
  fs::path nearest = path;
  std::error_code ignored;
  while (!fs::exists(nearest, ignored) && nearest != folder_of(nearest)) {
    nearest = folder_of(nearest);
  }
  if (!fs::is_directory(nearest, ignored)) fail("make the folder", nearest, ENOTDIR);
  std::string tried = nearest / kTemporaryFolder;
  const int error_number = try_to_make(tried);
  if (error_number != 0) {
    fail(nearest == path ? "write into the folder" : "make the folder", path, error_number);
  }
  ::rmdir(tried.c_str());
}

int Disk::try_to_make(std::string& temporary) const {
  const int error_number = planned(DiskCall::mkdir);
  return error_number == 0 && ::mkdtemp(temporary.data()) == nullptr ? errno : error_number;
}

void Disk::sync_folder(const fs::path& path) const {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("open the folder", path, errno);
  try {
    sync(descriptor, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
}

void Disk::remove(const fs::path& path) const {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) fail("remove", path, error.value());
}

std::uint64_t Disk::free_bytes(const fs::path& path) const {
  if (free_bytes_) return *free_bytes_;
  struct statvfs status = {};
  if (::statvfs(existing_folder_of(path).c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    paths.push_back(it->path());
  }
  if (error) {
    throw disk_error("cannot read the folder '" + folder.string() + "': " + error.message());
  }
  return paths;
}

ScratchFolder::ScratchFolder(const Disk& disk, const fs::path& folder) {
  std::string made = folder_of(folder / kTemporaryFolder) / kTemporaryFolder;
  const int error_number = disk.try_to_make(made);
  if (error_number != 0) disk.fail("write into the folder", folder, error_number);
  path_ = made;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

AppendFile::AppendFile(const Disk& disk, const fs::path& path)
    : disk_(disk),
      path_(path),
      descriptor_(disk.open_for_writing(path, O_APPEND | O_NOFOLLOW, path)) {}

AppendFile::~AppendFile() { ::close(descriptor_); }

void AppendFile::append(std::string_view row) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  try {
    disk_.write_all(descriptor_, bytes_of(row), path_);
  } catch (...) {
    // Best effort: a remaining tail is cut off when the run is resumed.
    if (before >= 0 && ::ftruncate(descriptor_, before) != 0) errno = 0;
    throw;
  }
}

void AppendFile::sync() { disk_.sync(descriptor_, path_); }

}  // namespace trainyard
