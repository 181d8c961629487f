// How ranks tell the launcher which GPU failed, and what it does then.
#include <doctest/doctest.h>

#include <cstdlib>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "cli/spawn.h"
#include "ranks/spawn/spawn.h"

namespace trainyard::cli {
namespace {

using namespace testing;

constexpr const char* kGpu = "cuda:2 (NVIDIA H200, 0000:17:00.0) of node1";

/// Sets the ranks' variable for its lifetime.
class RankOf {
 public:
  explicit RankOf(const FailedGpus& launcher) {
    setenv(kFailedGpusVariable, launcher.path().c_str(), 1);
  }
  ~RankOf() { unsetenv(kFailedGpusVariable); }
  RankOf(const RankOf&) = delete;
  RankOf& operator=(const RankOf&) = delete;
};

std::string text_of_failure(const std::string& gpu) { return "CUDA: cudaMalloc failed, on " + gpu; }

/// A rank that ends with exit code 8 and names these GPUs.
SpawnCommand rank_that_names(const std::string& lines, const FailedGpus& launcher) {
  return {.program = "/bin/sh",
          .arguments = {"-c", "printf '" + lines + "' >>\"$TRAINYARD_FAILED_GPUS\"; exit 8"},
          .environment = {std::string(kFailedGpusVariable) + "=" + launcher.path().string()}};
}

/// Starts a rank that names `lines[attempt]` (or nothing beyond the last), with at most 10
/// restarts.
std::pair<int, SpawnResult> start(const std::vector<std::string>& lines, FailedGpus& launcher) {
  int attempts = 0;
  const SpawnResult result = with_restarts(
      [&](int attempt) {
        ++attempts;
        const std::string& named = static_cast<std::size_t>(attempt) < lines.size()
                                       ? lines[static_cast<std::size_t>(attempt)]
                                       : "";
        return spawn({{.name = "rank 0", .command = rank_that_names(named, launcher)}}, {},
                     SystemClock());
      },
      {.most = 10,
       .tell = [](const std::string&) {},
       .failed_gpu = [&] { return launcher.take(); }});
  return {attempts, result};
}

TEST_CASE("the launcher is told the GPU of an error once, by the first rank that knows it") {
  const TemporaryFolder folder;
  FailedGpus launcher(folder.path());
  CHECK(launcher.take() == "");
  const RankOf rank(launcher);
  add_failed_gpu("rank 1 died");
  add_failed_gpu(text_of_failure(kGpu));
  add_failed_gpu("rank 0 (node1), step 3: " + text_of_failure("cuda:0 (A)"));
  CHECK(launcher.take() == kGpu);
  CHECK(launcher.take() == "");
}

TEST_CASE("a rank adds nothing if its launcher has no file, or it does not see the file") {
  const TemporaryFolder folder;
  add_failed_gpu(text_of_failure(kGpu));
  {
    const FailedGpus launcher(folder.path());
    const RankOf rank(launcher);
    std::filesystem::remove(launcher.path());
    add_failed_gpu(text_of_failure(kGpu));
    CHECK_FALSE(std::filesystem::exists(launcher.path()));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the file is removed with the launcher, and a folder that cannot hold it is an error") {
  const TemporaryFolder folder;
  { const FailedGpus launcher(folder.path()); }
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(error_of(ErrorKind::disk, [&] {
          const FailedGpus launcher(folder / "none");
        }).find("none: cannot create a file there: No such file") != std::string::npos);
}

TEST_CASE("ranks that name the same GPU twice are not restarted again") {
  const TemporaryFolder folder;
  FailedGpus launcher(folder.path());
  const auto [attempts, result] =
      start({"cuda:0 (A)\\n", "cuda:1 (B)\\ncuda:0 (A)\\n", "cuda:0 (A)\\n"}, launcher);
  CHECK(attempts == 3);
  CHECK(result.exit_code == 8);
  CHECK(result.message.find("cuda:0 (A) has failed twice: not restarting") != std::string::npos);
}

TEST_CASE("an attempt that names no GPU does not count against the GPU that failed before") {
  const TemporaryFolder folder;
  FailedGpus launcher(folder.path());
  const auto [attempts, result] = start({"cuda:0 (A)\\n"}, launcher);
  CHECK(attempts == 11);
  CHECK(result.message == "");
}

}  // namespace
}  // namespace trainyard::cli
