#include "base/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace trainyard {

namespace {

[[noreturn]] void fail(ErrorKind kind, const std::string& name, const std::string& what) {
  throw Error(kind, "cannot read '" + name + "': " + what);
}

std::string errno_text() { return std::generic_category().message(errno); }

void require_limit(const InputFile& file, const std::filesystem::path& path, ErrorKind kind,
                   std::uint64_t limit) {
  if (file.size() <= limit) return;
  fail(kind, path.string(),
       "it holds " + std::to_string(file.size()) + " bytes, at most " + std::to_string(limit) +
           " are expected");
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, ErrorKind kind)
    : name_(path.string()), kind_(kind) {
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

std::vector<std::byte> read_bytes(const std::filesystem::path& path, ErrorKind kind,
                                  std::uint64_t limit) {
  const InputFile file(path, kind);
  require_limit(file, path, kind, limit);
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return bytes;
}

std::string read_text(const std::filesystem::path& path, ErrorKind kind, std::uint64_t limit) {
  const InputFile file(path, kind);
  require_limit(file, path, kind, limit);
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span<char>(text.data(), text.size())));
  return text;
}

}  // namespace trainyard
