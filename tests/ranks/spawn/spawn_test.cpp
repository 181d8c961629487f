// The launcher, with shells as children: which one decides how it ends, what is passed on, and that
// no process remains. Shells wait for events in FIFOs and files, never for time.
#include "ranks/spawn/spawn.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "../../base/error_of.h"
#include "../../base/temporary_folder.h"

namespace trainyard {
namespace {

using namespace testing;

// A shell that runs until it is killed.
constexpr const char* kForever = "exec tail -f /dev/null";
constexpr SpawnLimits kAtOnce{.grace_seconds = 0, .kill_seconds = 0};
// Longer than any test takes: a test that relied on these limits would exceed its own time limit.
constexpr SpawnLimits kNever{.grace_seconds = 1e6, .kill_seconds = 1e6};

/// Shells named "rank 0", "rank 1", ..., in their own folder.
class Shells {
 public:
  explicit Shells(const std::vector<std::string>& scripts) {
    for (const std::string& script : scripts) {
      const std::string name = "rank " + std::to_string(processes_.size());
      processes_.push_back({.name = name,
                            .command = {.program = "/bin/sh",
                                        .arguments = {"-c", script},
                                        .environment = {"PATH=/usr/bin:/bin"},
                                        .folder = folder_.path()}});
    }
  }
  /// From rank 1 on output goes to files, as in a launch of ranks.
  Shells& with_outputs() {
    for (std::size_t i = 1; i < processes_.size(); ++i) {
      outputs_.push_back(
          std::make_unique<RankOutput>(RankOutput::at(folder_ / output_name(static_cast<int>(i)))));
      processes_[i].output = outputs_.back().get();
    }
    return *this;
  }
  /// The first one's stdout goes to its own file.
  const RankOutput& with_results() {
    outputs_.push_back(std::make_unique<RankOutput>(RankOutput::anonymous(folder_.path())));
    processes_[0].results = outputs_.back().get();
    return *outputs_.back();
  }
  void stop_first_with(int signal) { processes_[0].stop_signal = signal; }
  void make_fifo(const std::string& name) const {
    REQUIRE(::mkfifo((folder_ / name).c_str(), 0600) == 0);
  }
  [[nodiscard]] SpawnResult run(const SpawnLimits& limits) const {
    const SystemClock clock;
    SpawnResult result = spawn(processes_, limits, clock);
    // No child remains, running or dead.
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
    return result;
  }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
  [[nodiscard]] const std::vector<SpawnedProcess>& processes() const { return processes_; }

 private:
  TemporaryFolder folder_;
  std::vector<SpawnedProcess> processes_;
  std::vector<std::unique_ptr<RankOutput>> outputs_;
};

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// `text` with "pid 123" as "pid N".
std::string without_pid(std::string text) {
  const std::size_t at = text.find("pid ");
  if (at == std::string::npos) return text;
  const std::size_t end = text.find_first_not_of("0123456789", at + 4);
  return text.replace(at + 4, end - at - 4, "N");
}

TEST_CASE("a launch whose ranks all succeed succeeds, without a message") {
  const SpawnResult result = Shells({"exit 0", "exit 0", "exit 0"}).run(kNever);
  CHECK(result.exit_code == 0);
  CHECK(result.signal == 0);
  CHECK(result.message == "");
  CHECK(result.warning == "");
}

TEST_CASE("the launch ends with the exit code of the rank that fails, and the others are killed") {
  const SpawnResult result = Shells({kForever, "echo noise; echo the reason >&2; exit 4", kForever})
                                 .with_outputs()
                                 .run(kAtOnce);
  CHECK(result.exit_code == 4);
  CHECK(result.signal == 0);
  CHECK(without_pid(result.message)
            .starts_with("rank 1 (" + host_name() +
                         ", pid N) ended with exit code 4; the end of its "
                         "output ("));
  CHECK(result.message.ends_with("rank1.log):\nnoise\nthe reason"));
}

TEST_CASE("a rank killed by a signal is exit code 8, with rank, host, pid and signal") {
  const SpawnResult result = Shells({kForever, kForever, "kill -9 $$"}).with_outputs().run(kAtOnce);
  CHECK(result.exit_code == 8);
  CHECK(without_pid(result.message) ==
        "rank 2 (" + host_name() +
            ", pid N) was killed by signal 9; if nobody killed it, the machine ran out of memory; "
            "it printed nothing");
  CHECK(without_pid(Shells({"kill -SEGV $$"}).run(kAtOnce).message) ==
        "rank 0 (" + host_name() + ", pid N) was killed by signal 11");
}

TEST_CASE("a rank that only noticed the death of another is not named") {
  Shells shells({"exit 0", "cat gone; kill -9 $$", "exec 3>gone; exit 8"});
  shells.make_fifo("gone");
  const SpawnResult result = shells.with_outputs().run({.grace_seconds = 30, .kill_seconds = 0});
  CHECK(result.exit_code == 8);
  CHECK(result.message.starts_with("rank 1 "));
}

TEST_CASE("rank 0's own report of another rank's death is not repeated") {
  Shells shells({"cat gone; exit 8", "exec 3>gone; kill -9 $$"});
  shells.make_fifo("gone");
  const SpawnResult result = shells.with_outputs().run({.grace_seconds = 30, .kill_seconds = 0});
  CHECK(result.exit_code == 8);
  CHECK(result.message == "");
}

TEST_CASE("exit code 8 on its own is a failure") {
  const SpawnResult result = Shells({kForever, "exit 8"}).with_outputs().run(kAtOnce);
  CHECK(result.exit_code == 8);
  CHECK(result.message.find("ended with exit code 8; it printed nothing") != std::string::npos);
}

TEST_CASE("an error that the first rank printed on the launcher's streams is not repeated") {
  const SpawnResult result = Shells({"exit 3", "exit 3"}).with_outputs().run(kNever);
  CHECK(result.exit_code == 3);
  CHECK(result.message == "");
}

TEST_CASE("a rank that is stopped and ignores signals is killed after the second limit") {
  const SpawnResult result =
      Shells({"trap '' TERM INT; kill -STOP $$", "exit 5"}).with_outputs().run(kAtOnce);
  CHECK(result.exit_code == 5);
}

TEST_CASE("a rank that hangs after the first one has ended is killed, with a warning") {
  for (const auto& [first, code] : {std::pair<std::string, int>{"exit 0", 0}, {"exit 75", 75}}) {
    const SpawnResult result =
        Shells({first, "trap '' TERM; kill -STOP $$", "exit 0"}).with_outputs().run(kAtOnce);
    CHECK(result.exit_code == code);
    CHECK(result.message == "");
    CHECK(without_pid(result.warning)
              .find("rank 1 (" + host_name() +
                    ", pid N) had not ended 0 s after rank 0 and was killed") != std::string::npos);
  }
}

TEST_CASE("remaining ranks get SIGTERM first, and may clean up") {
  Shells shells({"trap 'echo tidy >done; exit 0' TERM; echo >ready; while :; do :; done",
                 "cat ready; exit 5"});
  shells.make_fifo("ready");
  const SpawnResult result = shells.with_outputs().run({.grace_seconds = 0, .kill_seconds = 1e6});
  CHECK(result.exit_code == 5);
  CHECK(text_of(shells.folder() / "done") == "tidy\n");
}

TEST_CASE("ranks that end by themselves within the grace limit get no signal") {
  Shells shells(
      {"trap 'echo disturbed >done' TERM; cat gone; echo saved >done", "exec 3>gone; exit 4"});
  shells.make_fifo("gone");
  const SpawnResult result = shells.with_outputs().run(kNever);
  CHECK(result.exit_code == 4);
  CHECK(text_of(shells.folder() / "done") == "saved\n");
}

TEST_CASE("the children of a rank that has to be killed die with it") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);  // children and grandchildren inherit its write end
  const std::string own = "trap '' TERM; tail -f /dev/null & wait; wait";
  const SpawnResult result = Shells({own, "exit 5"}).with_outputs().run(kAtOnce);
  CHECK(result.exit_code == 5);
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);  // end of file: no process has it open
  ::close(ends[0]);
}

TEST_CASE("exit code 75 of any rank becomes the launch's, and is not a failure") {
  const SpawnResult result = Shells({"exit 75", "exit 0"}).with_outputs().run(kAtOnce);
  CHECK(result.exit_code == 75);
  CHECK(result.message == "");
}

TEST_CASE("a signal at the launcher reaches every rank once") {
  const std::string listener =
      "trap 'echo x >>heard' USR2; echo >up; cat go; until [ -s heard ]; do :; done";
  std::vector<std::string> scripts;
  for (const char* rank : {"1", "2"}) {
    std::string script = listener;
    for (const char* name : {"heard", "up", "go"}) {
      script.replace(script.rfind(name), std::string(name).size(), std::string(name) + rank);
    }
    script.replace(script.find("heard'"), 5, std::string("heard") + rank);
    scripts.push_back(script);
  }
  scripts.push_back("trap '' USR2; cat up1 up2; kill -USR2 $PPID; exec 3>go1; exec 4>go2");
  Shells shells(scripts);
  for (const char* name : {"up1", "up2", "go1", "go2"}) shells.make_fifo(name);
  CHECK(shells.with_outputs().run(kNever).exit_code == 0);
  CHECK(text_of(shells.folder() / "heard1") == "x\n");
  CHECK(text_of(shells.folder() / "heard2") == "x\n");
}

TEST_CASE("a launch whose ranks end by a signal ends by that signal") {
  for (const auto& [name, signal] : {std::pair<std::string, int>{"TERM", SIGTERM},
                                     {"INT", SIGINT},
                                     {"HUP", SIGHUP},
                                     {"USR1", SIGUSR1}}) {
    const SpawnResult result =
        Shells({kForever, "kill -" + name + " $PPID; " + kForever}).with_outputs().run(kNever);
    CHECK(result.signal == signal);
    CHECK(result.message == "");
  }
}

TEST_CASE("a stop signal sent to one rank is a stop, and not a failure of the others") {
  const SpawnResult result = Shells({"exit 8", "kill -TERM $$"}).with_outputs().run(kNever);
  CHECK(result.signal == SIGTERM);
}

TEST_CASE("a second Ctrl-C kills ranks that ignore the first") {
  Shells shells(
      {"trap 'echo >heard' INT; kill -INT $PPID; until [ -e heard ]; do :; done; "
       "trap '' INT TERM; kill -INT $PPID; exec tail -f /dev/null"});
  const SpawnResult result = shells.run({.grace_seconds = 1e6, .kill_seconds = 0});
  CHECK(result.signal == SIGINT);
  CHECK(result.exit_code == 0);
}

TEST_CASE("a process with a stop_signal gets that signal, and SIGTERM at the second Ctrl-C") {
  Shells shells(
      {"trap 'echo USR1 >>heard' USR1; trap 'echo TERM >>heard; exit 0' TERM; "
       "kill -INT $PPID; until [ -s heard ]; do :; done; kill -INT $PPID; "
       "while :; do :; done"});
  shells.stop_first_with(SIGUSR1);
  const SpawnResult result = shells.run(kNever);
  CHECK(result.signal == SIGINT);
  CHECK(text_of(shells.folder() / "heard") == "USR1\nTERM\n");
}

TEST_CASE(
    "a rank that prints millions of bytes does not block, and the end of its output is shown") {
  const SpawnResult result =
      Shells({kForever, "yes a line of text | head -c 8000000; echo; echo last; exit 1"})
          .with_outputs()
          .run(kAtOnce);
  CHECK(result.exit_code == 1);
  CHECK(result.message.ends_with("\nlast"));
  CHECK(result.message.size() < 9'000);
}

TEST_CASE("a missing program is an error, and the running processes are killed") {
  Shells shells({kForever, "exit 0"});
  std::vector<SpawnedProcess> processes = shells.processes();
  processes[1].command.program = "/nowhere/train";
  const SystemClock clock;
  CHECK(error_of(ErrorKind::device, [&] { static_cast<void>(spawn(processes, kNever, clock)); }) ==
        "cannot start '/nowhere/train': No such file or directory");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("ranks die with a launcher that is killed") {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  Shells shells({"echo up >up; " + std::string(kForever), kForever});
  shells.make_fifo("up");
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const SystemClock clock;
    ::_exit(spawn(shells.processes(), kNever, clock).exit_code);
  }
  ::close(ends[1]);
  CHECK(text_of(shells.folder() / "up") == "up\n");
  ::kill(launcher, SIGKILL);
  CHECK(::waitpid(launcher, nullptr, 0) == launcher);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);  // end of file: launcher and ranks are gone
  ::close(ends[0]);
}

LocalSpawn local_shells(const TemporaryFolder& folder, const std::string& script, int ranks) {
  return {.command = {.program = "/bin/sh",
                      .arguments = {"-c", script},
                      .environment = {"PATH=/usr/bin:/bin", "MASTER_PORT=1"},
                      .folder = folder.path()},
          .ranks = ranks,
          .limits = kNever};
}

TEST_CASE("local ranks get their identity from the environment, and share port and token") {
  const TemporaryFolder folder;
  const SystemClock clock;
  const std::string script =
      "echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $MASTER_ADDR $TRAINYARD_LAUNCHER "
      ">place$RANK; echo $MASTER_PORT $TRAINYARD_TOKEN >meeting$RANK";
  CHECK(spawn_local(local_shells(folder, script, 3), clock).exit_code == 0);
  for (const std::string rank : {"0", "1", "2"}) {
    CHECK(text_of(folder / ("place" + rank)) == rank + " 3 " + rank + " 3 127.0.0.1 local\n");
    CHECK(text_of(folder / ("meeting" + rank)) == text_of(folder / "meeting0"));
  }
  CHECK(text_of(folder / "meeting0").size() > 36);
  CHECK_FALSE(text_of(folder / "meeting0").starts_with("1 "));
}

TEST_CASE("the output of local ranks is written to the given folder, except rank 0's") {
  const TemporaryFolder folder;
  const SystemClock clock;
  LocalSpawn local = local_shells(folder, "[ $RANK = 0 ] || echo I am $RANK", 3);
  local.log_folder = folder / "logs";
  CHECK(spawn_local(local, clock).exit_code == 0);
  CHECK(text_of(folder / "logs/rank1.log") == "I am 1\n");
  CHECK(text_of(folder / "logs/rank2.log") == "I am 2\n");
  CHECK_FALSE(std::filesystem::exists(folder / "logs/rank0.log"));
}

TEST_CASE("without a folder the output of a failed rank is shown too") {
  const TemporaryFolder folder;
  const SystemClock clock;
  LocalSpawn local =
      local_shells(folder, "[ $RANK = 1 ] || exec tail -f /dev/null; echo why; exit 4", 2);
  local.limits = kAtOnce;
  const SpawnResult result = spawn_local(local, clock);
  CHECK(result.exit_code == 4);
  CHECK(result.message.ends_with("ended with exit code 4; the end of its output:\nwhy"));
}

TEST_CASE("tokens are random and ports are free") {
  CHECK(random_token().size() == 32);
  CHECK(random_token() != random_token());
  CHECK(free_port() > 1023);
}

TEST_CASE("the stdout of the first process can be read, without its stderr") {
  Shells shells({"echo figures; echo complaint >&2; echo more"});
  shells.with_outputs();
  const RankOutput& results = shells.with_results();
  CHECK(shells.run(kNever).exit_code == 0);
  CHECK(results.text() == "figures\nmore\n");
}

}  // namespace
}  // namespace trainyard
