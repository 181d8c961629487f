#include "ranks/comm/shared_memory.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/error.h"

using namespace trainyard;

namespace {

std::string mapping_refusal(const SharedMemoryName& name, std::size_t bytes) {
  try {
    const SharedMemory memory(name, bytes);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    return error.what();
  }
  return "";
}

std::string path_of(int descriptor) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
}

}  // namespace

TEST_CASE("data written by one is read by another, and memory without an owner is gone") {
  auto made = std::make_unique<SharedMemory>(100);
  const SharedMemoryName name = made->name();
  CHECK(made->data()[99] == std::byte{0});
  {
    const SharedMemory opened(name, 100);
    CHECK(opened.data() != made->data());
    opened.data()[99] = std::byte{7};
    CHECK(made->data()[99] == std::byte{7});
    made.reset();
    CHECK(opened.data()[99] == std::byte{7});
  }
  CHECK(mapping_refusal(name, 100) == "opening the shared memory " + path_of(name.descriptor) +
                                          " failed: No such file or directory");
}

TEST_CASE("memory of another kind, or of another size, is refused") {
  const std::string end =
      " failed: it is not the memory of 100 bytes that it should be; do all ranks run the same "
      "program?";
  const SharedMemory larger(101);
  CHECK(mapping_refusal(larger.name(), 100) ==
        "opening the shared memory " + path_of(larger.name().descriptor) + end);
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  REQUIRE(::ftruncate(::fileno(file), 100) == 0);
  CHECK(mapping_refusal({::getpid(), ::fileno(file)}, 100) ==
        "opening the shared memory " + path_of(::fileno(file)) + end);
  std::fclose(file);
}

TEST_CASE("a size that no system can provide is refused") {
  CHECK_THROWS_AS(SharedMemory(std::size_t{1} << 62), Error);
}
