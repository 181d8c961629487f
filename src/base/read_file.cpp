#include "base/read_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace trainyard {
namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& name, const std::string& what) {
  throw Error(kind, "cannot read '" + name + "': " + what);
}

std::string errno_text() { return std::generic_category().message(errno); }

void require_limit(const InputFile& file, const fs::path& path, ErrorKind kind,
                   std::uint64_t limit) {
  if (file.size() <= limit) return;
  fail(kind, path.string(),
       "it holds " + std::to_string(file.size()) + " bytes, at most " + std::to_string(limit) +
           " are expected");
}

[[noreturn]] void bad_mapping(const fs::path& path, ErrorKind kind, const std::string& what) {
  throw Error(kind, "'" + path.string() + "' " + what);
}

/// The whole pages that lie in a part.
std::span<std::byte> pages(std::span<const std::byte> part) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + part.size()) / page * page;
  if (begin >= end) return {};
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

InputFile::InputFile(const fs::path& path, ErrorKind kind) : name_(path.string()), kind_(kind) {
  // O_NONBLOCK: opening a pipe must not wait for its writer; regular files ignore it.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(kind_, name_, errno_text());
  struct stat status = {};
  const bool known = ::fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const std::string what = known ? "it is not a regular file" : errno_text();
    ::close(descriptor_);
    fail(kind_, name_, what);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  constexpr std::size_t kMostBytesACall = std::size_t{1} << 30;
  while (!out.empty()) {
    const ssize_t count = ::pread(descriptor_, out.data(), std::min(out.size(), kMostBytesACall),
                                  static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(kind_, name_, errno_text());
    if (count == 0) {
      fail(kind_, name_,
           "it ends at byte " + std::to_string(offset) + ", " + std::to_string(out.size()) +
               " more bytes were expected");
    }
    offset += static_cast<std::uint64_t>(count);
    out = out.subspan(static_cast<std::size_t>(count));
  }
}

std::vector<std::byte> read_bytes(const fs::path& path, ErrorKind kind, std::uint64_t limit) {
  const InputFile file(path, kind);
  require_limit(file, path, kind, limit);
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return bytes;
}

std::string read_text(const fs::path& path, ErrorKind kind, std::uint64_t limit) {
  const InputFile file(path, kind);
  require_limit(file, path, kind, limit);
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span<char>(text.data(), text.size())));
  return text;
}

MappedFile::MappedFile(const fs::path& path, ErrorKind kind)
    // O_NONBLOCK: opening a pipe must not wait for its writer; regular files ignore it.
    : path_(path),
      kind_(kind),
      file_(FileNumber{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)}) {
  struct stat facts {};
  if (!file_ || fstat(file_.get().value, &facts) != 0) {
    bad_mapping(path, kind, "cannot be opened: " + std::string(std::strerror(errno)));
  }
  if (!S_ISREG(facts.st_mode)) bad_mapping(path, kind, "is not a regular file");
  if (facts.st_size == 0) bad_mapping(path, kind, "is empty");
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file_.get().value, 0);
  if (at == MAP_FAILED) {
    bad_mapping(path, kind, "cannot be mapped: " + std::string(std::strerror(errno)));
  }
  bytes_ = {static_cast<const std::byte*>(at), size};
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size()); }

void MappedFile::require_whole() const {
  struct stat facts {};
  const bool known = fstat(file_.get().value, &facts) == 0;
  if (known && facts.st_size >= static_cast<off_t>(bytes_.size())) return;
  bad_mapping(path_, kind_,
              "has " + std::to_string(facts.st_size) + " bytes, but had " +
                  std::to_string(bytes_.size()) +
                  " when it was opened; do not change a file that is in use");
}

// Advice: if the system does not follow it, only memory is lost.
void MappedFile::drop(std::span<const std::byte> part) const {
  const auto range = pages(part);
  if (!range.empty()) static_cast<void>(madvise(range.data(), range.size(), MADV_DONTNEED));
}

}  // namespace trainyard
