// Libraries older than those that the program is built with, in a virtual environment:
// $TRAINYARD_WHEELS, made by scripts/old_wheels.sh. No GPU is needed.
#include <cublasLt.h>
#include <cudnn_graph.h>
#include <doctest/doctest.h>
#include <nccl.h>

#include <algorithm>
#include <cstdlib>

#include "backend/cuda/libraries.h"
#include "backend/plugin.h"
#include "base/error.h"
#include "compute/conv/cudnn/library.h"
#include "compute/matmul/cublaslt/matmul.h"
#include "ranks/comm/nccl/nccl_library.h"

namespace trainyard::cuda {
namespace {

namespace fs = std::filesystem;

std::string wheels() {
  const char* folder = std::getenv("TRAINYARD_WHEELS");
  return folder == nullptr ? "" : folder;
}
bool no_wheels() { return wheels().empty(); }

/// The search folders of the virtual environment.
std::vector<fs::path> folders() {
  std::vector<fs::path> all = library_folders({.virtual_env = wheels()});
  std::erase_if(all, [](const fs::path& one) { return !one.string().starts_with(wheels()); });
  return all;
}

const LibraryFinding& found(const std::string& name) {
  static const std::vector<LibraryFinding> all = open_libraries(folders());
  return *std::find_if(all.begin(), all.end(),
                       [&](const LibraryFinding& one) { return one.name == name; });
}

std::string built_with(const std::string& name) {
  if (name == "cuDNN") return version_text(CUDNN_VERSION);
  return version_text(name == "NCCL" ? NCCL_VERSION_CODE : CUBLAS_VERSION);
}

TEST_CASE("wheels older than what the program is built with work" * doctest::skip(no_wheels())) {
  for (const char* name : {"cuDNN", "cuBLASLt", "NCCL"}) {
    CAPTURE(name);
    CHECK(found(name).problem == "");
    CHECK(found(name).path.string().starts_with(wheels()));
    CHECK(found(name).version != built_with(name));
  }
}

TEST_CASE("older libraries have every function that is called" * doctest::skip(no_wheels())) {
  CHECK_NOTHROW(cudnn::Library(found("cuDNN").path));
  const nccl::Library nccl(found("NCCL").path);
  CHECK_NOTHROW(static_cast<void>(nccl.make_unique_id()));
  try {
    const cudnn::MatmulLibrary products(found("cuBLASLt").path);
  } catch (const Error& error) {
    // Without a driver there is no handle; all functions were found before.
    CHECK(std::string(error.what()).starts_with("cuBLASLt: making a handle"));
  }
}

TEST_CASE("an older cuDNN finds the compiler of its engines by name" * doctest::skip(no_wheels())) {
  const LibraryFinding& compiler = found("NVRTC");
  CHECK(compiler.problem == "");
  CHECK(compiler.path.string().starts_with(wheels()));
  CHECK(SharedLibrary(compiler.file).file() == compiler.path);
}

}  // namespace
}  // namespace trainyard::cuda
