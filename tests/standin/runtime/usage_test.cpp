// What processes know of each other's use of the GPUs.
#include "usage.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace standin::test {
namespace {

/// A file that this process and its children share.
struct SharedFile {
  SharedFile() { close(mkstemp(path.data())); }
  ~SharedFile() { unlink(path.c_str()); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  std::string path = "/tmp/standin_usage.XXXXXX";
};

TEST_CASE("a process's use counts while it lives, however it ends") {
  const SharedFile file;
  Usage own(file.path.c_str());
  own.set_bytes(1, 100);
  CHECK_FALSE(own.is_used_by_others(1));
  int told[2], asked[2];
  REQUIRE(pipe(told) == 0);
  REQUIRE(pipe(asked) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  char byte = 0;
  if (child == 0) {
    Usage other(file.path.c_str());
    other.set_bytes(1, 20);
    other.add_busy(1, std::chrono::milliseconds(3));
    if (write(told[1], &byte, 1) == 1 && read(asked[0], &byte, 1) == 1) _exit(0);
    _exit(1);
  }
  REQUIRE(read(told[0], &byte, 1) == 1);
  CHECK(own.bytes(1) == 120);
  CHECK(own.bytes(0) == 0);
  CHECK(own.busy(1) == std::chrono::milliseconds(3));
  CHECK(own.is_used_by_others(1));
  CHECK(write(asked[1], &byte, 1) == 1);
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(own.bytes(1) == 100);
  own.leave();
  CHECK(own.bytes(1) == 0);
  for (const int end : {told[0], told[1], asked[0], asked[1]}) close(end);
}

}  // namespace
}  // namespace standin::test
