// The files with ranks' output: stored, moved, and the tails shown.
#include "ranks/spawn/rank_output.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string_view>

#include "../../base/error_of.h"
#include "../../base/temporary_folder.h"

namespace trainyard {
namespace {

using namespace testing;

void put(int file, std::string_view text) {
  REQUIRE(::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// Runs `work` in a process whose stdout and stderr are `output`.
template <class Work>
int in_rank(const RankOutput& output, const Work& work) {
  std::cout.flush();  // buffered text must not be printed by the child too
  std::fflush(stdout);
  const pid_t rank = ::fork();
  if (rank == 0) {
    ::dup2(output.descriptor(), STDOUT_FILENO);
    ::dup2(output.descriptor(), STDERR_FILENO);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(rank, &status, 0);
  return status;
}

TEST_CASE("the last lines of an output are its tail") {
  const TemporaryFolder folder;
  const RankOutput output = RankOutput::anonymous(folder.path());
  CHECK(output.tail(3) == "");
  CHECK(output.path() == "");
  put(output.descriptor(), "a\nb\nc\nd\n");
  CHECK(output.tail(2) == "c\nd");
  CHECK(output.tail(4) == "a\nb\nc\nd");
  CHECK(output.tail(9) == "a\nb\nc\nd");
  put(output.descriptor(), "e");
  CHECK(output.tail(2) == "d\ne");
  CHECK(output.text() == "a\nb\nc\nd\ne");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a tail is cut at 8 KiB") {
  const TemporaryFolder folder;
  const RankOutput output = RankOutput::at(folder / "logs/rank1.log");
  put(output.descriptor(), std::string(20'000, 'x'));
  CHECK(output.tail(5) == std::string(8'192, 'x'));
  CHECK(output.path() == folder / "logs/rank1.log");
}

TEST_CASE("an existing output file is appended to") {
  const TemporaryFolder folder;
  folder.write("rank1.log", "before\n");
  put(RankOutput::at(folder / "rank1.log").descriptor(), "after\n");
  CHECK(text_of(folder / "rank1.log") == "before\nafter\n");
}

TEST_CASE("a rank moves its output to the run folder, and the launcher finds it there") {
  const TemporaryFolder folder;
  const RankOutput output = RankOutput::anonymous(folder.path());
  const auto log = folder / "run/logs/rank1.log";
  const int status = in_rank(output, [&] {
    put(STDOUT_FILENO, "early\n");
    move_output(log);
    put(STDOUT_FILENO, "late\n");
    put(STDERR_FILENO, "last\n");
  });
  CHECK(status == 0);
  CHECK(text_of(log) == "early\nlate\nlast\n");
  CHECK(output.path() == log);
  CHECK(output.tail(2) == "late\nlast");
}

TEST_CASE("a rank whose output is already in the run folder leaves it there") {
  const TemporaryFolder folder;
  const auto log = folder / "rank1.log";
  const RankOutput output = RankOutput::at(log);
  const int status = in_rank(output, [&] {
    put(STDOUT_FILENO, "early\n");
    move_output(log);
    put(STDOUT_FILENO, "late\n");
  });
  CHECK(status == 0);
  CHECK(text_of(log) == "early\nlate\n");
}

TEST_CASE("a folder that cannot be written is named") {
  const TemporaryFolder folder;
  folder.write("file", "");
  CHECK(error_of(ErrorKind::disk, [&] { static_cast<void>(RankOutput::at(folder / "file/x")); }) ==
        "cannot write the output of a rank to '" + (folder / "file/x").string() +
            "': Not a directory");
  CHECK(error_of(ErrorKind::disk,
                 [&] { static_cast<void>(RankOutput::anonymous(folder / "none")); }) ==
        "cannot create a file for the output of a rank in '" + (folder / "none").string() +
            "': No such file or directory");
}

TEST_CASE("ranks' files are named by their numbers") { CHECK(output_name(12) == "rank12.log"); }

}  // namespace
}  // namespace trainyard
