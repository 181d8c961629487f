#include "base/output_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr int kMostLinks = 40;  // as Linux
constexpr int kReaderTries = 60;
constexpr std::chrono::milliseconds kReaderPause{50};

[[noreturn]] void fail_to_write(const fs::path& path, const std::string& why) {
  throw disk_error("cannot write '" + path.string() + "': " + why);
}

fs::path real_folder_of(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code ignored;
  const fs::path folder = fs::canonical(parent, ignored);
  return folder.empty() ? parent : folder;
}

/// The number that `path` means, if it is an open file of this process, else -1.
int own_descriptor(const fs::path& path, const fs::path& folder) {
  if (path == "-") return STDOUT_FILENO;
  std::error_code ignored;
  if (folder != fs::canonical("/proc/self/fd", ignored)) return -1;
  const auto number = parse_integer(path.filename().string());
  return number && *number <= 1 << 30 ? static_cast<int>(*number) : -1;
}

/// Throws Error{disk} for a link that Linux (protected_symlinks) does not follow either: another
/// user's, in a folder that all may write to, as /tmp.
void require_trusted(const fs::path& folder, const struct stat& link, const fs::path& named) {
  struct stat facts = {};
  constexpr mode_t kShared = S_ISVTX | S_IWOTH;
  if (::stat(folder.c_str(), &facts) != 0 || (facts.st_mode & kShared) != kShared) return;
  if (link.st_uid == ::geteuid() || link.st_uid == facts.st_uid) return;
  fail_to_write(named, "it is a link of another user; name another file");
}

/// The place of a path that is not a link.
OutputPlace place_of(const fs::path& path, const struct stat& facts, const fs::path& named) {
  if (S_ISDIR(facts.st_mode)) fail_to_write(named, "it is a folder; name a file");
  // As for `>`, root may write what is read-only for others.
  if (::access(path.c_str(), W_OK) != 0) {
    fail_to_write(named, std::generic_category().message(errno) +
                             "; allow writing to it (chmod u+w), or name another file");
  }
  if (!S_ISREG(facts.st_mode)) return {.path = path, .special = true};
  return {.path = path, .permissions = facts.st_mode & 0777u};
}

}  // namespace

OutputPlace output_place(const fs::path& named) {
  fs::path path = named;
  for (int links = 0; links < kMostLinks; ++links) {
    const fs::path folder = real_folder_of(path);
    if (const int number = own_descriptor(path, folder); number >= 0) {
      return {.path = path, .descriptor = number};
    }
    struct stat facts = {};
    if (::lstat(path.c_str(), &facts) != 0) return {.path = path};
    // What /proc shows as links are open files of processes, of which only open(2) knows the way.
    if (!S_ISLNK(facts.st_mode)) return place_of(path, facts, named);
    if (folder.string().starts_with("/proc/")) return {.path = path, .special = true};
    require_trusted(folder, facts, named);
    std::error_code unreadable;
    const fs::path target = fs::read_symlink(path, unreadable);
    if (unreadable) fail_to_write(named, unreadable.message());
    path = target.is_absolute() ? target : path.parent_path() / target;
  }
  fail_to_write(named, "it is a link that leads to itself; remove it");
}

int Disk::open_in_place(const OutputPlace& place, const fs::path& named) const {
  int error_number = planned(DiskCall::open);
  for (int tries = 0; error_number == 0; ++tries) {
    const int descriptor =
        ::open(place.path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    error_number = errno;
    if (descriptor >= 0) {
      ::fcntl(descriptor, F_SETFL, O_APPEND);  // from now on writing waits
      return descriptor;
    }
    std::error_code ignored;
    if (error_number != ENXIO || !fs::is_fifo(place.path, ignored)) break;
    if (tries == kReaderTries) {
      fail_to_write(named, "no program reads from this pipe; start its reader first");
    }
    std::this_thread::sleep_for(kReaderPause);
    error_number = 0;
  }
  fail("write", named, error_number);
}

void Disk::write_output(const fs::path& path, FileParts parts) const {
  const OutputPlace place = output_place(path);
  if (!place.is_stream()) return replace(place.path, parts, place.permissions);
  const int opened = place.descriptor >= 0 ? ::fcntl(place.descriptor, F_DUPFD_CLOEXEC, 3)
                                           : open_in_place(place, path);
  if (opened < 0) fail("write", path, errno);
  write_and_close(opened, path, parts);
}

void Disk::write_output(const fs::path& path, std::string_view text) const {
  const std::array<std::span<const std::byte>, 1> parts = {
      std::as_bytes(std::span<const char>(text.data(), text.size()))};
  write_output(path, parts);
}

}  // namespace trainyard
