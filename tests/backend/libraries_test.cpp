// Finding and judging CUDA's libraries, on libraries that are everywhere and on files that are
// none.
#include "backend/cuda/libraries.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"

namespace trainyard::cuda {
namespace {

namespace fs = std::filesystem;

/// The mathematics library as one that is wanted in version `built`, and says that it is 12.
WantedLibrary wanted(int built) {
  return {.name = "libm",
          .file = "libm.so.6",
          .built_version = built,
          .version =
              [](const SharedLibrary& library) {
                return library.function<double(double)>("cos") == nullptr ? 0 : 12;
              },
          .text = [](int version) { return "1." + std::to_string(version); }};
}

TEST_CASE("a library is found by the loader, and says its version") {
  const LibraryFinding found = open_library(wanted(12), std::vector<fs::path>{""});
  CHECK(found.problem == "");
  CHECK(found.version == "1.12");
  CHECK(found.path.filename() == "libm.so.6");
}

TEST_CASE("a library older than the one built against is refused with both versions") {
  const LibraryFinding found = open_library(wanted(13), std::vector<fs::path>{""});
  CHECK(found.problem == found.path.string() +
                             " is version 1.12, older than the 1.13 that this program was built "
                             "with");
}

TEST_CASE("the first folder that has a library gives it") {
  WantedLibrary resolver = wanted(12);
  resolver.file = "libresolv.so.2";
  resolver.version = [](const SharedLibrary&) { return 12; };
  const fs::path system = SharedLibrary(resolver.file).file();
  const testing::TemporaryFolder folder;
  fs::create_symlink(system, folder / resolver.file);
  const LibraryFinding found =
      open_library(resolver, std::vector<fs::path>{"/nowhere", folder.path(), ""});
  CHECK(found.path == folder / resolver.file);
  CHECK(found.problem == "");
}

TEST_CASE("a library that nobody has is not found, and one that is broken says so") {
  WantedLibrary nobody = wanted(1);
  nobody.file = "libno_such_library.so.3";
  const testing::TemporaryFolder folder;
  const LibraryFinding missing = open_library(nobody, std::vector<fs::path>{"", folder.path()});
  CHECK(missing.problem == "libno_such_library.so.3 was not found");
  CHECK(missing.path.empty());
  testing::put_text(folder / nobody.file, "no library");
  const LibraryFinding broken = open_library(nobody, std::vector<fs::path>{folder.path()});
  CHECK(broken.problem.find("libno_such_library.so.3") != std::string::npos);
  CHECK(broken.problem.find("was not found") == std::string::npos);
}

TEST_CASE("cuDNN, cuBLASLt and NCCL are wanted as built, NCCL for several GPUs alone") {
  const std::vector<WantedLibrary> list = wanted_libraries();
  REQUIRE(list.size() == 3);
  CHECK(list[0].file == "libcudnn.so.9");
  CHECK(list[1].file.starts_with("libcublasLt.so.1"));
  CHECK(list[2].file == "libnccl.so.2");
  CHECK(list[0].text(91900) == "9.19.0");
  CHECK(list[2].text(22809) == "2.28.9");
  CHECK_FALSE(list[0].several_gpus);
  CHECK(list[2].several_gpus);
}

}  // namespace
}  // namespace trainyard::cuda
