// Finding and checking CUDA's libraries, using libraries that every system has and files that are
// not libraries.
#include "backend/cuda/libraries.h"

#include <doctest/doctest.h>

#include "../base/temporary_folder.h"

namespace trainyard::cuda {
namespace {

namespace fs = std::filesystem;

/// The mathematics library, required in version `least`; it reports version 12, any other library
/// 13.
WantedLibrary wanted(int least) {
  return {.required = {.name = "libm",
                       .least_version = least,
                       .version =
                           [](const SharedLibrary& library) {
                             return library.function<double(double)>("cos") == nullptr ? 13 : 12;
                           }},
          .files = {"libm.so.6"}};
}

// Queried before a test case leaves a copy of it open from a folder that is removed.
const fs::path kMathematics = SharedLibrary("libm.so.6").file();
const fs::path kResolver = SharedLibrary("libresolv.so.2").file();

/// A copy, which the loader takes for another library than the system's.
fs::path put_library(const testing::TemporaryFolder& folder, const fs::path& library) {
  fs::copy_file(library, folder / "libwanted.so");
  return folder / "libwanted.so";
}

TEST_CASE("a library is found by the loader and reports its version") {
  const LibraryFinding found = open_library(wanted(12), std::vector<fs::path>{""});
  CHECK(found.problem == "");
  CHECK(found.version == "0.0.12");
  CHECK(found.path.filename() == "libm.so.6");
  CHECK(found.file == "libm.so.6");
}

TEST_CASE("a library that is too old is refused with both versions") {
  for (const bool has_parts : {false, true}) {
    WantedLibrary library = wanted(13);
    library.has_parts = has_parts;
    const LibraryFinding found = open_library(library, std::vector<fs::path>{""});
    CHECK(found.problem == found.path.string() + " is version 0.0.12, expected 0.0.13 or newer");
  }
}

TEST_CASE(
    "a library of a newer CUDA than the driver supports is skipped, and reported if there is no "
    "other") {
  WantedLibrary library = wanted(12);
  library.cuda = [](const SharedLibrary& opened) {
    return opened.file().filename() == "libwanted.so" ? 13 : 12;
  };
  library.files = {"libwanted.so", "libm.so.6"};
  const testing::TemporaryFolder newer, older;
  const fs::path refused = put_library(newer, kMathematics);
  fs::create_symlink(kMathematics, older / "libm.so.6");
  const LibraryFinding found =
      open_library(library, std::vector<fs::path>{newer.path(), older.path()}, 12);
  CHECK(found.problem == "");
  CHECK(found.path.filename() == "libm.so.6");
  CHECK(open_library(library, std::vector<fs::path>{newer.path()}, 12).problem ==
        refused.string() + " is for CUDA 13, but the driver supports CUDA 12");
  CHECK(open_library(library, std::vector<fs::path>{newer.path()}, 13).problem == "");
}

TEST_CASE("a library is taken from the first folder that has it") {
  WantedLibrary resolver = wanted(13);
  resolver.files = {"libresolv.so.2"};
  const testing::TemporaryFolder folder;
  fs::create_symlink(kResolver, folder / resolver.files.front());
  const LibraryFinding found =
      open_library(resolver, std::vector<fs::path>{"/nowhere", folder.path(), ""});
  CHECK(found.path == folder / resolver.files.front());
  CHECK(found.problem == "");
}

TEST_CASE("a folder whose library is too old, or broken, does not end the search") {
  const testing::TemporaryFolder broken, old, good;
  testing::put_text(broken / "libwanted.so", "no library");
  put_library(old, kMathematics);
  put_library(good, kResolver);
  const std::vector<fs::path> folders{broken.path(), old.path(), good.path()};
  WantedLibrary library = wanted(13);
  library.files = {"libwanted.so"};
  for (const bool has_parts : {false, true}) {
    library.has_parts = has_parts;
    const LibraryFinding found = open_library(library, folders);
    CHECK(found.problem == "");
    CHECK(found.version == "0.0.13");
    CHECK(found.path == good / "libwanted.so");
  }
}

TEST_CASE("if no folder has a library new enough, the first is named") {
  const testing::TemporaryFolder old, other;
  put_library(old, kMathematics);
  put_library(other, kResolver);
  WantedLibrary library = wanted(14);
  library.files = {"libwanted.so"};
  CHECK(open_library(library, std::vector<fs::path>{old.path(), other.path()}).problem ==
        (old / "libwanted.so").string() + " is version 0.0.12, expected 0.0.14 or newer");
}

TEST_CASE("any of a library's files will do; within a folder the first is preferred") {
  WantedLibrary library = wanted(12);
  library.files = {"libno_such_library.so.3", "libm.so.6"};
  CHECK(open_library(library, std::vector<fs::path>{""}).file == "libm.so.6");
  library.files = {"libno_such_library.so.3", "libno_such_library.so.2"};
  CHECK(open_library(library, std::vector<fs::path>{""}).problem ==
        "libno_such_library.so.3 or libno_such_library.so.2 was not found");
}

TEST_CASE("a missing library is not found, and a broken one is reported") {
  WantedLibrary nobody = wanted(1);
  nobody.files = {"libno_such_library.so.3"};
  const testing::TemporaryFolder folder;
  const LibraryFinding missing = open_library(nobody, std::vector<fs::path>{"", folder.path()});
  CHECK(missing.problem == "libno_such_library.so.3 was not found");
  CHECK(missing.path.empty());
  testing::put_text(folder / nobody.files.front(), "no library");
  const LibraryFinding broken = open_library(nobody, std::vector<fs::path>{folder.path()});
  CHECK(broken.problem.find("libno_such_library.so.3") != std::string::npos);
  CHECK(broken.problem.find("was not found") == std::string::npos);
}

TEST_CASE("the required libraries are those in use, NCCL only for several GPUs") {
  const std::vector<WantedLibrary> list = wanted_libraries();
  REQUIRE(list.size() == 3);
  CHECK(list[0].files == std::vector<std::string>{"libcudnn.so.9"});
  CHECK(list[0].required.least_version == 90800);
  CHECK(list[1].files == std::vector<std::string>{"libcublasLt.so.13", "libcublasLt.so.12"});
  CHECK(list[1].required.least_version <= 120803);  // minimum of CUDA 12.8
  CHECK(list[2].files == std::vector<std::string>{"libnccl.so.2"});
  CHECK(list[2].required.least_version <= 22105);
  CHECK_FALSE(list[0].several_gpus);
  CHECK(list[2].several_gpus);
  const SharedLibrary cudnn(TY_CUDNN_LIBRARY);
  CHECK((list[0].cuda(cudnn) == 12 || list[0].cuda(cudnn) == 13));
}

TEST_CASE("the compiler of engines is that of cuDNN's CUDA, and may be missing") {
  CHECK(wanted_compiler(12).files == std::vector<std::string>{"libnvrtc.so.12"});
  CHECK(wanted_compiler(13).required.least_version == 130000);
  CHECK(wanted_compiler(13).without != "");
  const LibraryFinding none = open_library(wanted_compiler(99), std::vector<fs::path>{"/nowhere"});
  CHECK(none.problem == "libnvrtc.so.99 was not found");
  CHECK(none.without == wanted_compiler(99).without);
}

TEST_CASE("the installed cuDNN is followed by the compiler of its CUDA") {
  const fs::path folder = fs::path(TY_CUDNN_LIBRARY).parent_path();
  const std::vector<LibraryFinding> found =
      open_libraries(std::vector<fs::path>{folder, TY_CUDA_LIBRARIES});
  REQUIRE(found.size() == 4);
  CHECK(found[0].problem == "");
  CHECK(found[1].problem == "");
  CHECK(found[3].problem == "");
  CHECK(found[3].name == "NVRTC");
}

}  // namespace
}  // namespace trainyard::cuda
