#include "base/atomic_file.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "error_of.h"
#include "failure_at.h"
#include "temporary_folder.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

template <class F>
std::string disk_error(F&& f) {
  return error_of(ErrorKind::disk, f);
}

int entries(const std::filesystem::path& folder) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a file is replaced whole and no temporary file remains") {
  const TemporaryFolder folder;
  const Disk disk;
  disk.replace_file(folder / "status.json", "one");
  disk.replace_file(folder / "status.json", "two");
  CHECK(text_of(folder / "status.json") == "two");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("many replace a file at once: it is whole, and nothing else is left") {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  std::vector<std::string> failed(8);
  for (std::size_t i = 0; i < failed.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string text(10000, static_cast<char>('a' + i));
      for (int n = 0; n < 50; ++n) {
        failed[i] += disk_error([&] { Disk().replace_file(folder / "cache", text); });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& message : failed) CHECK(message.empty());
  const std::string text = text_of(folder / "cache");
  CHECK(text == std::string(10000, text.at(0)));
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a link in place of a temporary file is not followed") {
  const TemporaryFolder folder;
  testing::put_text(folder / "mine", "precious");
  std::filesystem::create_symlink(folder / "mine", folder / ".tmp-status.json");
  Disk().replace_file(folder / "status.json", "new");
  CHECK(text_of(folder / "mine") == "precious");
  CHECK(text_of(folder / "status.json") == "new");
}

TEST_CASE("whichever call fails during replacement, the file has the old or the new text") {
  const TemporaryFolder folder;
  for (const DiskCall call :
       {DiskCall::open, DiskCall::write, DiskCall::fsync, DiskCall::close, DiskCall::rename}) {
    for (int n = 1; n <= 3; ++n) {
      Disk().replace_file(folder / "status.json", "old");
      const FailureAt plan{.call = call, .n = n, .error_number = ENOSPC};
      const std::string message =
          disk_error([&] { Disk(plan).replace_file(folder / "status.json", "new"); });
      const bool failed = *plan.seen >= n;
      CHECK(message.empty() != failed);
      const std::string text = text_of(folder / "status.json");
      CHECK((text == "new" || (failed && text == "old")));
      CHECK(entries(folder.path()) == 1);
    }
  }
}

TEST_CASE("a full disk is reported with the path, the bytes needed and the bytes free") {
  const TemporaryFolder folder;
  const Disk disk(FailureAt{.call = DiskCall::write, .n = 1, .error_number = ENOSPC}, 1234);
  CHECK(disk_error([&] { disk.replace_file(folder / "a.txt", std::string(5000, 'x')); }) ==
        "cannot write '" + (folder / "a.txt").string() +
            "': No space left on device (5,000 bytes needed, 1,234 free); free some space or "
            "choose another folder");
}

TEST_CASE("reaching the process's file-size limit is a disk error, and the file keeps whole rows") {
  const TemporaryFolder folder;
  const Disk disk;
  AppendFile file(disk, folder / "a.csv");
  file.append("row\n");
  const auto former_action = std::signal(SIGXFSZ, SIG_IGN);
  rlimit former = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &former) == 0);
  const rlimit low{.rlim_cur = 6, .rlim_max = former.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &low) == 0);
  const std::string message = disk_error([&] { file.append("row\n"); });
  ::setrlimit(RLIMIT_FSIZE, &former);
  std::signal(SIGXFSZ, former_action);
  CHECK(message.starts_with("cannot write '" + (folder / "a.csv").string() + "': File too large"));
  CHECK(message.ends_with("; raise the file-size limit (ulimit -f), then resume"));
  CHECK(text_of(folder / "a.csv") == "row\n");
}

TEST_CASE("checking a folder leaves nothing behind, and what forbids writing is named") {
  const TemporaryFolder folder;
  const Disk disk;
  disk.try_folder(folder.path());
  disk.try_folder(folder / "runs" / "x");
  CHECK(entries(folder.path()) == 0);
  testing::put_text(folder / "file", "x");
  CHECK(disk_error([&] { disk.try_folder(folder / "file" / "below"); }) ==
        "cannot make the folder '" + (folder / "file").string() + "': Not a directory");
  CHECK(disk_error([] {
          Disk().try_folder("/proc/nowhere/a");
        }).starts_with("cannot make the folder '/proc/nowhere/a': "));
  const Disk forbidden(FailureAt{.call = DiskCall::mkdir, .n = 1, .error_number = EROFS});
  CHECK(disk_error([&] { forbidden.try_folder(folder.path()); }) ==
        "cannot write into the folder '" + folder.path().string() +
            "': Read-only file system; choose a folder you can write to");
}

TEST_CASE("a pipe or a device in place of a file is refused without waiting") {
  const TemporaryFolder folder;
  const Disk disk;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const std::string& path : {(folder / "pipe").string(), std::string("/dev/null")}) {
    CHECK(disk_error([&] { const AppendFile file(disk, path); }) ==
          "cannot write '" + path + "': it is not a regular file; move it away, then try again");
  }
}

TEST_CASE("an interrupted write continues") {
  const TemporaryFolder folder;
  const FailureAt plan{.call = DiskCall::write, .n = 1, .error_number = EINTR};
  Disk(plan).replace_file(folder / "a.txt", "text");
  CHECK(text_of(folder / "a.txt") == "text");
  CHECK(*plan.seen == 2);
}

TEST_CASE("pieces are written in order, and folders are made with their parents") {
  const TemporaryFolder folder;
  const Disk disk;
  disk.make_folders(folder / "a" / "b" / "c");
  const std::string head = "head ";
  const std::string tail = "tail";
  const std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span(head)), {}, std::as_bytes(std::span(tail))};
  disk.write_file(folder / "a" / "b" / "c" / "file", parts);
  CHECK(text_of(folder / "a" / "b" / "c" / "file") == "head tail");
}

TEST_CASE("make_folder reports whether it made the folder, and a file in the way is an error") {
  const TemporaryFolder folder;
  const Disk disk;
  CHECK(disk.make_folder(folder / "0001"));
  CHECK_FALSE(disk.make_folder(folder / "0001"));
  put_text(folder / "file", "");
  CHECK(disk_error([&] { disk.make_folders(folder / "file"); }) ==
        "cannot make the folder '" + (folder / "file").string() + "': Not a directory");
  CHECK(disk_error([&] { (void)disk.make_folder(folder / "none" / "0001"); }) ==
        "cannot make the folder '" + (folder / "none" / "0001").string() +
            "': No such file or directory");
}

TEST_CASE("a folder that cannot be written to is an error with advice") {
  const Disk disk(FailureAt{.call = DiskCall::mkdir, .n = 1, .error_number = EACCES});
  CHECK(disk_error([&] { (void)disk.make_folder("/somewhere/runs"); }) ==
        "cannot make the folder '/somewhere/runs': Permission denied; choose a folder you can "
        "write to");
}

TEST_CASE("rows are appended with one write each and are still there after the file is reopened") {
  const TemporaryFolder folder;
  const FailureAt plan{.call = DiskCall::write};
  const Disk disk(plan);
  {
    AppendFile file(disk, folder / "metrics.csv");
    file.append("1,2\n");
    file.append("3,4\n");
    CHECK(*plan.seen == 2);
  }
  AppendFile file(disk, folder / "metrics.csv");
  file.append("5,6\n");
  file.sync();
  CHECK(text_of(folder / "metrics.csv") == "1,2\n3,4\n5,6\n");
}

TEST_CASE("a row that is only partly written is cut off again") {
  const TemporaryFolder folder;
  // RLIMIT_FSIZE lets the kernel take 10 bytes of the file and refuse the rest with EFBIG.
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const Disk disk;
    AppendFile file(disk, folder / "metrics.csv");
    file.append("1,2\n3,4\n");
    const rlimit limit = {10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      file.append("5,6\n");
      ::_exit(1);
    } catch (const Error& error) {
      ::_exit(error.exit_code());
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(text_of(folder / "metrics.csv") == "1,2\n3,4\n");
}

TEST_CASE("removing deletes folders with their contents, and a missing one is fine") {
  const TemporaryFolder folder;
  const Disk disk;
  disk.make_folders(folder / "a" / "b");
  put_text(folder / "a" / "b" / "file", "x");
  disk.remove(folder / "a");
  disk.remove(folder / "a");
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("free bytes are those of the file system of a folder that does not exist yet") {
  const TemporaryFolder folder;
  CHECK(Disk().free_bytes(folder / "none" / "yet") > 0);
}
