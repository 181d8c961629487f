#include "backend/cuda/libraries.h"

#include <cublasLt.h>
#include <cudnn_graph.h>
#include <nccl.h>

#include <optional>
#include <system_error>

namespace trainyard::cuda {
namespace {

namespace fs = std::filesystem;

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

/// cuDNN and NCCL (from 2.9 on) and cuBLAS count major * 10000 + minor * 100 + patch.
std::string hundreds_text(int version) {
  return dotted(version / 10000, version / 100 % 100, version % 100);
}

int cudnn_version(const SharedLibrary& library) {
  auto* ask = library.function<decltype(cudnnGetVersion)>("cudnnGetVersion");
  return ask == nullptr ? 0 : static_cast<int>(ask());
}

int cublas_version(const SharedLibrary& library) {
  auto* ask = library.function<decltype(cublasLtGetVersion)>("cublasLtGetVersion");
  return ask == nullptr ? 0 : static_cast<int>(ask());
}

int nccl_version(const SharedLibrary& library) {
  auto* ask = library.function<decltype(ncclGetVersion)>("ncclGetVersion");
  int version = 0;
  return ask == nullptr || ask(&version) != ncclSuccess ? 0 : version;
}

std::string versioned(const char* file, int major) {
  return std::string(file) + ".so." + std::to_string(major);
}

/// Opened out of one folder; empty if the folder has none.
std::optional<SharedLibrary> open_in(const fs::path& folder, const std::string& file) {
  std::error_code missing;
  if (!folder.empty() && !fs::exists(folder / file, missing)) return std::nullopt;
  const fs::path path = folder.empty() ? fs::path(file) : folder / file;
  SharedLibrary library(path);
  // The loader's own search that finds nothing is no finding.
  if (!library.is_open() && folder.empty()) return std::nullopt;
  return library;
}

void judge(LibraryFinding& finding, const WantedLibrary& wanted, const SharedLibrary& library) {
  finding.path = library.file();
  const int version = wanted.version(library);
  finding.version = wanted.text(version);
  if (version >= wanted.built_version) return;
  finding.problem = finding.path.string() + " is version " + finding.version + ", older than the " +
                    wanted.text(wanted.built_version) + " that this program was built with";
}

}  // namespace

std::vector<WantedLibrary> wanted_libraries() {
  return {
      {.name = "cuDNN",
       .file = versioned("libcudnn", CUDNN_MAJOR),
       .built_version = CUDNN_VERSION,
       .version = cudnn_version,
       .text = hundreds_text},
      {.name = "cuBLASLt",
       .file = versioned("libcublasLt", CUBLAS_VER_MAJOR),
       .built_version = CUBLAS_VERSION,
       .version = cublas_version,
       .text = hundreds_text},
      {.name = "NCCL",
       .file = versioned("libnccl", NCCL_MAJOR),
       .built_version = NCCL_VERSION_CODE,
       .version = nccl_version,
       .text = hundreds_text,
       .several_gpus = true},
  };
}

LibraryFinding open_library(const WantedLibrary& wanted, std::span<const fs::path> folders) {
  LibraryFinding finding{
      .name = wanted.name, .file = wanted.file, .several_gpus = wanted.several_gpus};
  finding.problem = wanted.file + " was not found";
  for (const fs::path& folder : folders) {
    std::optional<SharedLibrary> library = open_in(folder, wanted.file);
    if (!library) continue;
    if (!library->is_open()) {
      finding.problem = library->problem();
      continue;
    }
    finding.problem.clear();
    judge(finding, wanted, *library);
    library->keep();  // executors open it again by its path, which is then quick
    return finding;
  }
  return finding;
}

}  // namespace trainyard::cuda
