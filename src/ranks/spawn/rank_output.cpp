#include "ranks/spawn/rank_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace trainyard {
namespace {

constexpr std::string_view kMoved = "the output of this rank continues in ";
constexpr std::size_t kTailBytes = 8'192;

[[noreturn]] void fail(const std::string& doing, const fs::path& path) {
  throw disk_error(doing + " '" + path.string() + "': " + std::generic_category().message(errno));
}

int open_to_add(const fs::path& path) {
  std::error_code ignored;  // open() reports the error
  fs::create_directories(path.parent_path(), ignored);
  // Never a link to a file elsewhere, and no wait for the reader of a pipe.
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const int file = ::open(path.c_str(), kFlags, 0666);
  struct stat facts = {};
  if (file >= 0 && (::fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))) {
    ::close(file);
    throw disk_error("cannot write the output of a rank to '" + path.string() +
                     "': it is not a regular file; move it away, then try again");
  }
  if (file < 0) fail("cannot write the output of a rank to", path);
  return file;
}

/// At most the last `bytes` of the file.
std::string end_of(int file, std::size_t bytes) {
  struct stat facts = {};
  if (::fstat(file, &facts) != 0) return "";
  const auto size = static_cast<std::size_t>(facts.st_size);
  const std::size_t begin = size > bytes ? size - bytes : 0;
  std::string text(size - begin, '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), static_cast<off_t>(begin));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::string last_lines(std::string_view text, int lines) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t begin = text.size();
  for (int i = 0; i < lines && begin != std::string_view::npos && begin > 0; ++i) {
    begin = text.rfind('\n', begin - 1);
  }
  return std::string(begin == std::string_view::npos || text.empty() ? text
                                                                     : text.substr(begin + 1));
}

/// The file in which the output continues according to `text`; "" if there is none.
fs::path moved_to(const std::string& text) {
  const std::string last = last_lines(text, 1);
  return last.starts_with(kMoved) ? fs::path(last.substr(kMoved.size())) : fs::path();
}

void write_all(int file, std::string_view text, const fs::path& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write the output of a rank to", path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Appends all of `from`, from its beginning, to `to`.
void copy_all(int from, int to, const fs::path& path) {
  std::array<char, 65'536> piece{};
  off_t at = 0;
  for (;;) {
    const ssize_t got = ::pread(from, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;  // the end, or a terminal or pipe, which stores nothing to move
    write_all(to, {piece.data(), static_cast<std::size_t>(got)}, path);
    at += got;
  }
}

bool same_file(int a, int b) {
  struct stat facts_a = {}, facts_b = {};
  return ::fstat(a, &facts_a) == 0 && ::fstat(b, &facts_b) == 0 &&
         facts_a.st_dev == facts_b.st_dev && facts_a.st_ino == facts_b.st_ino;
}

}  // namespace

RankOutput::RankOutput(int descriptor, fs::path path)
    : file_({descriptor}), path_(std::move(path)) {}

RankOutput RankOutput::anonymous(const fs::path& folder) {
  std::string name = (folder / "train_rank_XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_APPEND | O_CLOEXEC);
  if (file < 0) fail("cannot create a file for the output of a rank in", folder);
  ::unlink(name.c_str());
  return {file, {}};
}

RankOutput RankOutput::at(const fs::path& path) { return {open_to_add(path), path}; }

fs::path RankOutput::path() const {
  const fs::path moved = moved_to(end_of(descriptor(), kTailBytes));
  return moved.empty() ? path_ : moved;
}

std::string RankOutput::tail(int lines) const {
  const std::string text = end_of(descriptor(), kTailBytes);
  const fs::path moved = moved_to(text);
  if (moved.empty()) return last_lines(text, lines);
  const int file = ::open(moved.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return "";
  const Descriptor closed_later({file});
  return last_lines(end_of(file, kTailBytes), lines);
}

std::string RankOutput::text() const {
  return end_of(descriptor(), std::numeric_limits<std::size_t>::max());
}

void move_output(const fs::path& path) {
  const Descriptor file({open_to_add(path)});
  const int to = file.get().value;
  if (same_file(to, STDOUT_FILENO)) return;
  copy_all(STDOUT_FILENO, to, path);
  const std::string line = std::string(kMoved) + fs::absolute(path).string() + "\n";
  write_all(STDOUT_FILENO, line, path);
  if (::dup2(to, STDOUT_FILENO) < 0 || ::dup2(to, STDERR_FILENO) < 0) {
    fail("cannot send the output of a rank to", path);
  }
}

std::string output_name(int rank) { return "rank" + std::to_string(rank) + ".log"; }

}  // namespace trainyard
