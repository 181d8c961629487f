#include "base/output_place.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "error_of.h"
#include "temporary_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& path) {
  return error_of(ErrorKind::disk, [&] { Disk().write_output(path, "new"); });
}

int entries_in(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), {}));
}

/// Lets standard output be `to` while `f` runs.
template <class F>
void with_standard_output(int to, F&& f) {
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  ::dup2(to, STDOUT_FILENO);
  f();
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
}

}  // namespace

TEST_CASE("an ordinary output is replaced whole, and keeps its permissions") {
  const TemporaryFolder folder;
  Disk().write_output(folder / "a", "old");
  ::chmod((folder / "a").c_str(), 0640);
  const fs::path hard = folder / "hard";
  fs::create_hard_link(folder / "a", hard);
  Disk().write_output(folder / "a", "new");
  CHECK(text_of(folder / "a") == "new");
  CHECK(text_of(hard) == "old");  // replaced, not changed
  CHECK(fs::status(folder / "a").permissions() == fs::perms(0640));
  CHECK(entries_in(folder.path()) == 2);
}

TEST_CASE("an output behind links is replaced at their end, also one that is not there yet") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "below");
  put_text(folder / "below/target", "old");
  fs::create_symlink("below/target", folder / "second");
  fs::create_symlink(folder / "second", folder / "first");
  Disk().write_output(folder / "first", "new");
  CHECK(fs::is_symlink(folder / "first"));
  CHECK(fs::is_symlink(folder / "second"));
  CHECK(text_of(folder / "below/target") == "new");
  fs::create_symlink("below/fresh", folder / "dangling");
  Disk().write_output(folder / "dangling", "made");
  CHECK(text_of(folder / "below/fresh") == "made");
}

TEST_CASE("links without end, folders and files in missing folders are refused") {
  const TemporaryFolder folder;
  fs::create_symlink("b", folder / "a");
  fs::create_symlink("a", folder / "b");
  CHECK(refusal(folder / "a") == "cannot write '" + (folder / "a").string() +
                                     "': it is a link that leads to itself; remove it");
  CHECK(refusal(folder.path()) ==
        "cannot write '" + folder.text() + "': it is a folder; name a file");
  CHECK(refusal(folder / "none/a") ==
        "cannot write '" + (folder / "none/a").string() + "': No such file or directory");
}

TEST_CASE("a device is written where it is, and what it refuses is a disk error") {
  const TemporaryFolder folder;
  if (::mknod((folder / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) return;  // not root
  REQUIRE(::mknod((folder / "full").c_str(), S_IFCHR | 0666, makedev(1, 7)) == 0);
  const int tried = ::open((folder / "null").c_str(), O_WRONLY | O_CLOEXEC);
  if (tried < 0) return;  // the file system allows no devices
  ::close(tried);
  Disk().write_output(folder / "null", "new");
  CHECK(refusal(folder / "full")
            .starts_with("cannot write '" + (folder / "full").string() +
                         "': No space left on device"));
  CHECK(fs::is_character_file(folder / "null"));
  CHECK(fs::is_character_file(folder / "full"));
  CHECK(entries_in(folder.path()) == 2);
}

TEST_CASE("a pipe is written to its reader") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string large(300'000, 'x');  // more than a pipe holds
  std::string read;
  std::thread reader([&] { read = text_of(folder / "pipe"); });
  Disk().write_output(folder / "pipe", large);
  reader.join();
  CHECK(read == large);
  CHECK(fs::is_fifo(folder / "pipe"));
}

TEST_CASE("a pipe that no one reads is an error") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder / "pipe") == "cannot write '" + (folder / "pipe").string() +
                                        "': no program reads from this pipe; start its reader "
                                        "first");
}

TEST_CASE("a file that the process has open is continued where it stands") {
  const TemporaryFolder folder;
  put_text(folder / "log", "before\n");
  fs::create_symlink("/dev/stdout", folder / "link");
  const int file = ::open((folder / "log").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  Disk().write_output("/dev/fd/" + std::to_string(file), "a\n");
  with_standard_output(file, [&] {
    Disk().write_output("-", "b\n");
    Disk().write_output("/dev/stdout", "c\n");
    Disk().write_output(folder / "link", "d\n");
  });
  ::close(file);
  CHECK(text_of(folder / "log") == "before\na\nb\nc\nd\n");
  CHECK(refusal("/dev/fd/" + std::to_string(file)).starts_with("cannot write '/dev/fd/"));
}

TEST_CASE("another user's link in a folder of all is not followed") {
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 01777);
  put_text(folder / "victim", "precious");
  fs::create_symlink("victim", folder / "link");
  if (::lchown((folder / "link").c_str(), 12345, 12345) != 0) return;  // not root
  CHECK(refusal(folder / "link") == "cannot write '" + (folder / "link").string() +
                                        "': it is a link of another user; name another file");
  CHECK(text_of(folder / "victim") == "precious");
}

TEST_CASE("rows are not appended through a link") {
  const TemporaryFolder folder;
  put_text(folder / "victim", "precious");
  fs::create_symlink("victim", folder / "train.log");
  const Disk disk;
  CHECK(error_of(ErrorKind::disk, [&] { const AppendFile file(disk, folder / "train.log"); }) ==
        "cannot write '" + (folder / "train.log").string() +
            "': it is a link, and links are not followed here; remove it, then try again");
  CHECK(text_of(folder / "victim") == "precious");
}
