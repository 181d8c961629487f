// Programs that a run starts.
#include "base/child_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "temporary_folder.h"

using namespace trainyard;

namespace {

/// A shell that runs `script` with a FIFO `gate` in its folder.
struct Shell {
  testing::TemporaryFolder folder;

  Shell() { REQUIRE(::mkfifo((folder / "gate").c_str(), 0600) == 0); }
  [[nodiscard]] Command command(const std::string& script, double limit_seconds = 60) const {
    return {.program = "/bin/sh",
            .arguments = {"-c", script},
            .folder = folder.path(),
            .errors = folder / "errors",
            .limit_seconds = limit_seconds};
  }
  /// The pid that the shell writes to the gate; waits for it.
  [[nodiscard]] pid_t number() const {
    pid_t number = 0;
    std::ifstream(folder / "gate") >> number;
    REQUIRE(number > 0);
    return number;
  }
};

/// True as soon as no process has this pid, not even one that ended and was not reaped; false after
/// 30 s.
bool vanishes(pid_t number) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (::kill(number, 0) == 0) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace

TEST_CASE("a child that has ended is reaped at once, whether or not anyone waits") {
  const Shell shell;
  const ChildProcess child(shell.command("echo $$ > gate"));
  CHECK(vanishes(shell.number()));
}

TEST_CASE("a child that hangs is killed at its limit, and wait() returns then") {
  const Shell shell;
  ChildProcess child(shell.command("echo $$ > gate; read line < gate", 0.2));
  const pid_t number = shell.number();
  CHECK(child.wait() == std::nullopt);
  CHECK(child.ended());
  CHECK(vanishes(number));
}

TEST_CASE("a stop ends the wait for a child, and the child ends with its object") {
  const Shell shell;
  pid_t number = 0;
  {
    ChildProcess child(shell.command("echo $$ > gate; read line < gate"));
    number = shell.number();
    CHECK(child.wait([] { return true; }) == std::nullopt);
    CHECK_FALSE(child.ended());
  }
  CHECK(vanishes(number));
}

TEST_CASE("a child that floods its output is ended before it fills the disk") {
  const Shell shell;
  Command flood = shell.command("echo $$ > gate; while :; do echo flood; done");
  flood.most_file_bytes = 10'000;
  ChildProcess child(flood);
  // The gate holds the child back until it has its limit.
  CHECK(shell.number() > 0);
  CHECK(child.wait() == 128 + SIGXFSZ);
  CHECK(std::filesystem::file_size(shell.folder / "errors") == 10'000);
}

TEST_CASE("the result of a child is its exit code, or 128 + the signal") {
  const Shell shell;
  CHECK(ChildProcess(shell.command("exit 3")).wait() == 3);
  CHECK(ChildProcess(shell.command("kill -TERM $$")).wait() == 128 + SIGTERM);
}

TEST_CASE("a child reads its input, however long, and writes what it prints where it should") {
  const Shell shell;
  Command command = shell.command("cat; echo complaint >&2");
  command.input = std::string(300'000, 'x');
  command.output = shell.folder / "output";
  CHECK(ChildProcess(command).wait() == 0);
  CHECK(testing::text_of(shell.folder / "output") == command.input);
  CHECK(testing::text_of(shell.folder / "errors") == "complaint\n");
  command.output.clear();
  CHECK(ChildProcess(command).wait() == 0);
  CHECK(testing::text_of(shell.folder / "errors") == command.input + "complaint\n");
}

TEST_CASE("a child inherits no open file, such as a connection to another rank") {
  const testing::TemporaryFolder folder;
  const int ours = ::open("/dev/null", O_RDONLY);
  REQUIRE(ours > STDERR_FILENO);
  const std::filesystem::path listing = folder / "listing";
  ChildProcess child({.program = "/bin/ls",
                      .arguments = {"/proc/self/fd"},
                      .folder = folder.path(),
                      .errors = listing});
  CHECK(child.wait() == 0);
  ::close(ours);
  std::set<int> open;
  std::ifstream file(listing);
  for (int descriptor = 0; file >> descriptor;) open.insert(descriptor);
  // Its standard streams, and the folder that it lists.
  CHECK(open == std::set<int>{0, 1, 2, 3});
}
