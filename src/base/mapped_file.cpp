#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace trainyard {

namespace {

[[noreturn]] void bad_mapping(const std::filesystem::path& path, ErrorKind kind,
                              const std::string& what) {
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

MappedFile::MappedFile(const std::filesystem::path& path, ErrorKind kind)
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
