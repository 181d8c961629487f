// Checkpoints under failing system calls, kills and damaged bytes.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>
#include <vector>

#include "../base/failure_at.h"
#include "../base/temporary_folder.h"
#include "checkpoint/checkpoint_files.h"
#include "sample_checkpoint.h"

using namespace trainyard;
using namespace trainyard::testing;

namespace {

constexpr DiskCall kCalls[] = {DiskCall::open,   DiskCall::write, DiskCall::fsync,
                               DiskCall::rename, DiskCall::mkdir, DiskCall::close};

/// The step that a resume would start from, after checking that the content is of that step.
std::int64_t usable_step(const std::filesystem::path& folder) {
  const auto loaded = load_newest_checkpoint(folder);
  REQUIRE(loaded.has_value());
  CHECK(loaded->warnings.empty());
  const SampleCheckpoint expected(loaded->epoch, loaded->step);
  for (const auto& [name, tensors] : expected.content().files) {
    for (const NamedTensor& tensor : tensors) {
      const auto bytes = loaded->files.at(name).at(tensor.name).bytes;
      CHECK(std::equal(bytes.begin(), bytes.end(), tensor.bytes.begin(), tensor.bytes.end()));
    }
  }
  return loaded->step;
}

}  // namespace

TEST_CASE("whichever system call fails during a save, the previous checkpoint stays usable") {
  int failures = 0;
  for (const DiskCall call : kCalls) {
    for (const bool lasting : {false, true}) {
      bool reached = true;
      for (int n = 1; reached; ++n) {
        CAPTURE(static_cast<int>(call));
        CAPTURE(n);
        const TemporaryFolder folder;
        save_checkpoint(Disk(), folder.path(), SampleCheckpoint(1, 10).content(), {.keep = 1});
        const FailureAt plan{.call = call, .n = n, .error_number = ENOSPC, .lasting = lasting};
        bool failed = false;
        try {
          save_checkpoint(Disk(plan), folder.path(), SampleCheckpoint(2, 20).content(),
                          {.is_best = true, .keep = 1});
        } catch (const Error& error) {
          failed = true;
          ++failures;
          CHECK(error.kind() == ErrorKind::disk);
        }
        reached = *plan.seen >= n;
        CHECK(failed == reached);
        const std::int64_t step = usable_step(folder.path());
        CHECK((step == 20 || (failed && step == 10)));
        // The disk works again: so does the next save, and nothing partial is left.
        save_checkpoint(Disk(), folder.path(), SampleCheckpoint(3, 30).content(), {.keep = 1});
        CHECK(usable_step(folder.path()) == 30);
      }
    }
  }
  // 2 tensor files, state, manifest, `last`, `best`: 6 each of open, write, fsync, close, 3 more
  // fsync for folders and renames, 3 renames, 1 mkdir; failing once and permanently.
  CHECK(failures >= 2 * (6 * 4 + 3 + 3 + 1));
}

TEST_CASE("killed before any system call of a save, the run finds a complete checkpoint") {
  bool finished = false;
  int kills = 0;
  for (int n = 1; !finished; ++n) {
    CAPTURE(n);
    const TemporaryFolder folder;
    save_checkpoint(Disk(), folder.path(), SampleCheckpoint(1, 10).content(), {.is_best = true});
    save_checkpoint(Disk(), folder.path(), SampleCheckpoint(2, 20).content(), {});
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      int left = n;
      const Disk disk([&left](DiskCall) {
        if (--left == 0) ::_exit(3);
        return 0;
      });
      // Step 20 is saved again: the hardest case, since its name is taken.
      save_checkpoint(disk, folder.path(), SampleCheckpoint(2, 20).content(), {.is_best = true});
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    finished = WEXITSTATUS(status) == 0;
    kills += finished ? 0 : 1;
    CHECK(usable_step(folder.path()) == 20);
    save_checkpoint(Disk(), folder.path(), SampleCheckpoint(3, 30).content(), {});
    CHECK(usable_step(folder.path()) == 30);
  }
  CHECK(kills > 25);
}

TEST_CASE("300 flipped or cut bytes anywhere in a checkpoint are all detected") {
  const TemporaryFolder folder;
  save_checkpoint(Disk(), folder.path(), SampleCheckpoint(1, 10).content(), {});
  const auto path = save_checkpoint(Disk(), folder.path(), SampleCheckpoint(2, 20).content(), {});
  const std::vector<std::string> names = {"weights.safetensors", "optimizer.safetensors",
                                          "state.json", "MANIFEST.json"};
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const std::string& name = names[static_cast<std::size_t>(round) % names.size()];
    const std::string good = text_of(path / name);
    std::string bad = good;
    const std::size_t at = random() % bad.size();
    if (round % 5 == 0) {
      bad.resize(at);
    } else {
      bad[at] = static_cast<char>(bad[at] ^ (1 << (random() % 8)));
    }
    put_text(path / name, bad);
    CAPTURE(name);
    CAPTURE(at);
    const auto loaded = load_newest_checkpoint(folder.path());
    REQUIRE(loaded.has_value());
    CHECK(loaded->step == 10);
    REQUIRE(loaded->warnings.size() == 1);
    CHECK(loaded->warnings[0].find((path / name).string()) != std::string::npos);
    put_text(path / name, good);
  }
  CHECK(usable_step(folder.path()) == 20);
}

TEST_CASE("a missing file and another checkpoint's manifest are detected") {
  const TemporaryFolder folder;
  const auto first = save_checkpoint(Disk(), folder.path(), SampleCheckpoint(1, 10).content(), {});
  const auto second = save_checkpoint(Disk(), folder.path(), SampleCheckpoint(2, 20).content(), {});
  std::filesystem::remove(second / "state.json");
  CHECK(load_newest_checkpoint(folder.path())->warnings ==
        std::vector<std::string>{"cannot read '" + (second / "state.json").string() +
                                 "': No such file or directory"});
  std::filesystem::remove_all(second);
  std::filesystem::copy(first, second);
  CHECK(load_newest_checkpoint(folder.path())->warnings ==
        std::vector<std::string>{second.string() +
                                 ": damaged: its manifest is that of epoch-0001_step-000010"});
}

TEST_CASE("if all checkpoints are damaged the error lists each and says what to do") {
  const TemporaryFolder folder;
  for (const std::int64_t step : {10, 20}) {
    const auto path =
        save_checkpoint(Disk(), folder.path(), SampleCheckpoint(step / 10, step).content(), {});
    put_text(path / "state.json", "{}");
  }
  try {
    (void)load_newest_checkpoint(folder.path());
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::checkpoint);
    const std::string message = error.what();
    CHECK(message.starts_with("no usable checkpoint in '" + folder.path().string() + "':\n  "));
    CHECK(message.find("epoch-0002_step-000020/state.json: damaged: it has 2 bytes, ") <
          message.find("epoch-0001_step-000010/state.json: damaged: it has 2 bytes, "));
    CHECK(message.ends_with("\nstart again in a new folder, or restore one of them"));
  }
}

TEST_CASE("a damaged newest checkpoint does not displace good ones when the run continues") {
  const TemporaryFolder folder;
  save_checkpoint(Disk(), folder.path(), SampleCheckpoint(1, 10).content(), {});
  const auto bad = save_checkpoint(Disk(), folder.path(), SampleCheckpoint(9, 90).content(), {});
  put_text(bad / "state.json", "{}");
  save_checkpoint(Disk(), folder.path(), SampleCheckpoint(2, 20).content(), {.keep = 2});
  CHECK(usable_step(folder.path()) == 20);
  CHECK(std::filesystem::exists(folder / "epoch-0001_step-000010"));
}
