#include "backend/cuda/libraries.h"

#include <cudnn_graph.h>

#include <optional>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "compute/conv/cudnn/library.h"
#include "compute/matmul/cublaslt/matmul.h"
#include "ranks/comm/nccl/nccl_library.h"

namespace trainyard::cuda {
namespace {

int compiler_version(const SharedLibrary& library) {
  auto* ask = library.function<int(int*, int*)>("nvrtcVersion");
  int major = 0, minor = 0;
  return ask == nullptr || ask(&major, &minor) != 0 ? 0 : major * 10000 + minor * 100;
}

int cuda_of_cudnn(const SharedLibrary& library) {
  auto* ask = library.function<decltype(cudnnGetCudartVersion)>("cudnnGetCudartVersion");
  return ask == nullptr ? 0 : static_cast<int>(ask()) / 1000;
}

int cuda_of_cublas(const SharedLibrary& library) {
  return cudnn::MatmulLibrary::required().version(library) / 10000;
}

/// As passed to the loader; empty if the folder has no such file.
std::optional<fs::path> path_in(const fs::path& folder, const std::string& file) {
  std::error_code missing;
  if (folder.empty()) return fs::path(file);
  return fs::exists(folder / file, missing) ? std::optional(folder / file) : std::nullopt;
}

void judge(LibraryFinding& finding, const WantedLibrary& wanted, const SharedLibrary& library,
           int driver_cuda) {
  finding.path = library.file();
  const int version = wanted.required.version(library);
  finding.version = version_text(version);
  finding.problem.clear();
  const int cuda = wanted.cuda == nullptr || driver_cuda == 0 ? 0 : wanted.cuda(library);
  if (version < wanted.required.least_version) {
    finding.problem = finding.path.string() + " is version " + finding.version + ", expected " +
                      version_text(wanted.required.least_version) + " or newer";
  } else if (cuda > driver_cuda) {
    finding.problem = finding.path.string() + " is for CUDA " + std::to_string(cuda) +
                      ", but the driver supports CUDA " + std::to_string(driver_cuda);
  }
}

/// The library at `path`, kept open until the program ends if it is usable.
LibraryFinding open_at(const fs::path& path, const WantedLibrary& wanted, int driver_cuda) {
  LibraryFinding finding{.name = wanted.required.name,
                         .file = path.filename().string(),
                         .several_gpus = wanted.several_gpus,
                         .without = wanted.without};
  if (wanted.has_parts) {
    // If it cannot be opened separately, it is queried within the program, like the others.
    const SharedLibrary asked = SharedLibrary::apart(path);
    if (asked.is_open()) judge(finding, wanted, asked, driver_cuda);
    if (!finding.problem.empty()) return finding;
  }
  SharedLibrary library(path);
  if (!library.is_open()) {
    finding.problem = library.problem();
    return finding;
  }
  judge(finding, wanted, library, driver_cuda);
  if (finding.problem.empty()) library.keep();  // executors open it again by its path: quick then
  return finding;
}

}  // namespace

std::vector<WantedLibrary> wanted_libraries() {
  return {
      {.required = cudnn::Library::required(),
       .files = {"libcudnn.so.9"},
       .has_parts = true,
       .cuda = cuda_of_cudnn},
      {.required = cudnn::MatmulLibrary::required(),
       .files = {"libcublasLt.so.13", "libcublasLt.so.12"},
       .cuda = cuda_of_cublas},
      {.required = nccl::Library::required(), .files = {"libnccl.so.2"}, .several_gpus = true},
  };
}

WantedLibrary wanted_compiler(int cuda) {
  return {.required = {.name = "NVRTC", .least_version = cuda * 10000, .version = compiler_version},
          .files = {"libnvrtc.so." + std::to_string(cuda)},
          .without = "cuDNN's engines that are compiled at run time are left out"};
}

LibraryFinding open_library(const WantedLibrary& wanted, std::span<const fs::path> folders,
                            int driver_cuda) {
  LibraryFinding finding{.name = wanted.required.name,
                         .file = wanted.files.front(),
                         .problem = joined(wanted.files, " or ") + " was not found",
                         .several_gpus = wanted.several_gpus,
                         .without = wanted.without};
  bool first = true;
  for (const fs::path& folder : folders) {
    for (const std::string& file : wanted.files) {
      const std::optional<fs::path> path = path_in(folder, file);
      if (!path) continue;
      LibraryFinding found = open_at(*path, wanted, driver_cuda);
      if (found.problem.empty()) return found;
      // The loader's own search finding nothing is not reported.
      if (folder.empty() && found.path.empty()) continue;
      if (std::exchange(first, false)) finding = std::move(found);
    }
  }
  return finding;
}

std::vector<LibraryFinding> open_libraries(std::span<const fs::path> folders, int driver_cuda) {
  std::vector<LibraryFinding> findings;
  for (const WantedLibrary& wanted : wanted_libraries()) {
    findings.push_back(open_library(wanted, folders, driver_cuda));
  }
  const LibraryFinding& cudnn = findings.front();
  const int cuda = cudnn.problem.empty() ? cuda_of_cudnn(SharedLibrary(cudnn.path)) : 0;
  if (cuda > 0) findings.push_back(open_library(wanted_compiler(cuda), folders));
  return findings;
}

}  // namespace trainyard::cuda
