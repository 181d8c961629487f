// Programs that a run starts.
#include "run/child_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "../base/temporary_folder.h"

using namespace trainyard;

TEST_CASE("a child gets no open file of ours, such as a connection to another rank") {
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
  // Its own three, and the folder that it lists.
  CHECK(open == std::set<int>{0, 1, 2, 3});
}
