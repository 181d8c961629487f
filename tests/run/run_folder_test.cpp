#include "run/run_folder.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../base/error_of.h"
#include "../base/failure_at.h"
#include "../base/temporary_folder.h"
#include "base/error.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

void put_run(const std::filesystem::path& path, const std::string& state, const std::string& hash) {
  std::filesystem::create_directories(path);
  put_text(path / "config.yaml", "");
  put_text(path / "status.json", R"({"state": ")" + state + R"(", "config_hash": ")" + hash +
                                     R"(", "epoch": 1, "epochs": 2})");
}

}  // namespace

TEST_CASE("runs of one name are numbered from 0001") {
  const TemporaryFolder folder;
  const Disk disk;
  const RunFolder first = RunFolder::create(disk, folder / "runs", "resnet");
  const RunFolder second = RunFolder::create(disk, folder / "runs", "resnet");
  CHECK(first.path() == folder / "runs" / "resnet" / "0001");
  CHECK(second.path() == folder / "runs" / "resnet" / "0002");
  CHECK(std::filesystem::is_directory(first.checkpoints()));
  CHECK(std::filesystem::is_directory(first.weights()));
  CHECK(std::filesystem::is_directory(first.plots()));
}

TEST_CASE("a new number is higher than all existing ones, and other names do not count") {
  const TemporaryFolder folder;
  const Disk disk;
  for (const char* name : {"0007", "12", "old", "00009"}) {
    std::filesystem::create_directories(folder / "x" / name);
  }
  CHECK(RunFolder::create(disk, folder.path(), "x").path().filename() == "0008");
}

TEST_CASE("32 creators at once get 32 folders") {
  const TemporaryFolder folder;
  const Disk disk;
  std::vector<std::string> names(32);
  std::vector<std::thread> threads;
  for (std::string& name : names) {
    threads.emplace_back([&folder, &disk, &name] {
      name = RunFolder::create(disk, folder.path(), "x").path().string();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == 32);
  CHECK(std::filesystem::is_directory(folder / "x" / "0032"));
}

TEST_CASE("a name that leaves the folder is refused") {
  const TemporaryFolder folder;
  for (const char* name : {"", "..", ".x", "a/b", "-x", "a b", "a\nb"}) {
    CAPTURE(name);
    CHECK(error_of(ErrorKind::command_line,
                   [&] { (void)RunFolder::create(Disk(), folder.path(), name); }) ==
          "--name: '" + std::string(name) +
              "' is not a plain folder name: it must have no blanks, no '/' and no '\\', and begin "
              "with neither '.' nor '-'");
  }
}

TEST_CASE("a root that cannot be written is a disk error that names it") {
  const TemporaryFolder folder;
  const Disk disk(FailureAt{.call = DiskCall::mkdir, .n = 1, .error_number = EACCES});
  CHECK(error_of(ErrorKind::disk, [&] { (void)RunFolder::create(disk, folder / "runs", "x"); }) ==
        "cannot make the folder '" + (folder / "runs").string() +
            "': Permission denied; choose a folder you can write to");
  CHECK(error_of(ErrorKind::disk, [&] {
          (void)RunFolder::create(Disk(), "/proc/runs", "x");
        }).starts_with("cannot make the folder '/proc/runs': "));
}

TEST_CASE("--out takes a missing or an empty folder and refuses a non-empty one") {
  const TemporaryFolder folder;
  const Disk disk;
  (void)RunFolder::create_at(disk, folder / "new" / "out");
  CHECK(std::filesystem::is_directory(folder / "new" / "out" / "checkpoints"));
  std::filesystem::create_directory(folder / "empty");
  (void)RunFolder::create_at(disk, folder / "empty");
  std::filesystem::create_directory(folder / "full");
  put_text(folder / "full" / "thesis.tex", "x");
  CHECK(error_of(ErrorKind::command_line, [&] {
          (void)RunFolder::create_at(disk, folder / "full");
        }) == "--out: '" + (folder / "full").string() + "' is not empty; name another folder");
  CHECK_FALSE(std::filesystem::exists(folder / "full" / ".lock"));
}

TEST_CASE("a run folder has one writer, in this process or in another") {
  const TemporaryFolder folder;
  const Disk disk;
  const std::filesystem::path path = folder / "out";
  const std::string refused = "another process is writing into '" + path.string() +
                              "'; wait until it ends, or name another folder";
  {
    const RunFolder run = RunFolder::create_at(disk, path);
    run.write("config.yaml", "epochs: 1\n");
    CHECK(error_of(ErrorKind::command_line, [&] { (void)RunFolder::open(disk, path); }) == refused);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        (void)RunFolder::open(disk, path);
        ::_exit(0);
      } catch (const Error& error) {
        ::_exit(error.what() == refused ? 2 : 1);
      }
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 2);
  }
  CHECK(RunFolder::open(disk, path).path() == path);
}

TEST_CASE("the errno of flock decides whether another process is writing") {
  CHECK(another_holds_lock(EWOULDBLOCK, "r/.lock"));
  CHECK(error_of(ErrorKind::disk, [] { (void)another_holds_lock(ENOLCK, "r/.lock"); }) ==
        "cannot lock 'r/.lock': No locks available; its file system has no locks, as is common on "
        "network file systems: enable them there, or choose a folder on another one with --out");
  CHECK(error_of(ErrorKind::disk, [] { (void)another_holds_lock(EIO, "r/.lock"); }) ==
        "cannot lock 'r/.lock': Input/output error");
}

TEST_CASE("a folder left by a failed start is reused, one with results is not") {
  const TemporaryFolder folder;
  const Disk disk;
  const std::filesystem::path path = folder / "out";
  {
    const RunFolder run = RunFolder::create_at(disk, path);
    run.write("status.json", "{}");
    run.write("run.json", "{}");
    put_text(path / ".tmp-config.yaml", "ep");
  }
  (void)RunFolder::create_at(disk, path);
  CHECK_FALSE(std::filesystem::exists(path / ".tmp-config.yaml"));
  put_text(path / "weights" / "last.safetensors", "x");
  CHECK(error_of(ErrorKind::command_line, [&] {
          (void)RunFolder::create_at(disk, path);
        }).ends_with("is not empty; name another folder"));
  put_text(path / "config.yaml", "epochs: 1\n");
  CHECK(error_of(ErrorKind::command_line, [&] {
          (void)RunFolder::create_at(disk, path);
        }).ends_with("name another folder, or continue its run with --resume"));
}

TEST_CASE("an abandoned start leaves no folder, and touches no foreign files") {
  const TemporaryFolder folder;
  const Disk disk;
  const auto give_up = [](const RunFolder& run) {
    run.write("status.json", "{}");
    run.discard();
  };
  give_up(RunFolder::create(disk, folder / "runs", "x"));
  CHECK(std::filesystem::is_empty(folder.path()));
  give_up(RunFolder::create_at(disk, folder / "deep" / "a"));
  CHECK(std::filesystem::is_empty(folder.path()));
  {
    const RunFolder other = RunFolder::create(disk, folder / "runs", "x");
    give_up(RunFolder::create(disk, folder / "runs", "x"));
    CHECK(std::filesystem::is_directory(other.checkpoints()));
    CHECK_FALSE(std::filesystem::exists(folder / "runs" / "x" / "0002"));
  }
  std::filesystem::create_directories(folder / "mine");
  {
    const RunFolder run = RunFolder::create_at(disk, folder / "mine");
    put_text(folder / "mine" / "notes.txt", "mine");  // written while the run started
    give_up(run);
  }
  CHECK(text_of(folder / "mine" / "notes.txt") == "mine");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "mine"), {}) == 1);
}

TEST_CASE("opening a run removes the temporary files of an earlier failure and nothing else") {
  const TemporaryFolder folder;
  const Disk disk;
  const std::filesystem::path path = folder / "out";
  { RunFolder::create_at(disk, path).write("config.yaml", "epochs: 1\n"); }
  const std::vector<std::string> left = {".tmp-status.json", "weights/.tmp-last.safetensors",
                                         "plots/.tmp-a", "checkpoints/.tmp-epoch",
                                         "eval/.tmp-classes.csv"};
  std::filesystem::create_directory(path / "eval");
  for (const std::string& name : left) put_text(path / name, "x");
  put_text(path / "tmp-mine", "x");
  (void)RunFolder::open(disk, path);
  for (const std::string& name : left) CHECK_FALSE(std::filesystem::exists(path / name));
  CHECK(std::filesystem::exists(path / "tmp-mine"));
}

TEST_CASE("a folder without config.yaml is not a run folder") {
  const TemporaryFolder folder;
  CHECK(error_of(ErrorKind::command_line, [&] { (void)RunFolder::open(Disk(), folder.path()); }) ==
        "'" + folder.path().string() + "' is not a run folder: it has no config.yaml");
}

TEST_CASE("a resume adds its command") {
  const TemporaryFolder folder;
  const Disk disk;
  const RunFolder run = RunFolder::create(disk, folder.path(), "x");
  run.write("command.txt", "train --config x.yaml\n");
  run.write("config.yaml", "a: 1\n");
  run.add_command("train resume x/0001");
  CHECK(text_of(run.file("config.yaml")) == "a: 1\n");
  CHECK(text_of(run.file("command.txt")) == "train --config x.yaml\ntrain resume x/0001\n");
  CHECK(is_run_folder(run.path()));
  CHECK(std::filesystem::is_directory(run.subfolder("eval")));
}

TEST_CASE("the newest run that has not completed is the one to resume") {
  const TemporaryFolder folder;
  CHECK_FALSE(newest_unfinished_run(folder.path(), "x").has_value());
  put_run(folder / "x" / "0001", "interrupted", "h");
  put_run(folder / "x" / "0002", "running", "h");
  put_run(folder / "x" / "0003", "completed", "h");
  std::filesystem::create_directories(folder / "x" / "0004");
  CHECK(newest_unfinished_run(folder.path(), "x") == folder / "x" / "0002");
  put_text(folder / "x" / "0002" / "status.json", "{\"state\": ");
  CHECK(newest_unfinished_run(folder.path(), "x") == folder / "x" / "0002");
}

TEST_CASE("a run counts as done only if it completed with the same config") {
  const TemporaryFolder folder;
  put_run(folder / "x" / "0001", "completed", "one");
  put_run(folder / "x" / "0002", "failed", "two");
  put_run(folder / "x" / "0003", "completed", "one");
  const std::vector<std::filesystem::path> newest_first = {folder / "x" / "0003",
                                                           folder / "x" / "0001"};
  CHECK(completed_runs(folder.path(), "x", "one") == newest_first);
  CHECK(completed_runs(folder.path(), "x", "two").empty());
}
