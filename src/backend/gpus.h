// --gpus: which GPUs a run asks for, and which it gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "device/gpu_survey.h"

namespace trainyard {

/// The value of --gpus.
struct GpuRequest {
  enum class Kind {
    unsaid,  // left out: one GPU if a usable one is there, else the CPU
    none,    // 0: the CPU
    first,   // N: the first N visible ones
    listed,  // 0,2,3 or id:2
    all,
    idlest,  // auto:N: the N with the least work, then with the most free memory
  };
  Kind kind = Kind::unsaid;
  std::int64_t count = 0;     // first, idlest
  std::vector<int> ids = {};  // listed
  std::string text = {};      // as typed
};

/// Throws Error{command_line} for text that is none of the forms.
[[nodiscard]] GpuRequest parse_gpus(std::string_view text);

/// The GPUs that the request means, in order: where it leaves the choice open, of the usable ones.
/// Throws Error{device} that names the request, what was found and what to do, if the machine has
/// no usable GPU or not as many, or one that it means is too old or in prohibited mode.
[[nodiscard]] std::vector<GpuFinding> choose_gpus(const GpuRequest& request,
                                                  const GpuSurvey& survey);

/// Those of compute capability 8.0 or newer, which the kernels are compiled for.
[[nodiscard]] std::vector<GpuFinding> usable_gpus(const GpuSurvey& survey);
/// Why no GPU can be used: no driver, a driver that is too old, no GPU, none that is new enough; ""
/// if one can.
[[nodiscard]] std::string survey_problem(const GpuSurvey& survey);
/// Where this program's GPU part and its libraries are looked for.
struct GpuSearchPaths {
  std::filesystem::path plugin;
  std::vector<std::filesystem::path> folders;
  /// Where NVIDIA's MPS has its pipes while it runs; empty: not looked for.
  std::filesystem::path mps_pipes = {};
};
/// Ranks of one host, and the GPUs that they work on in turn.
struct GpuShare {
  int ranks = 1;
  int gpus = 1;
  /// Whether ranks work on the same GPU.
  [[nodiscard]] bool shared() const { return ranks > gpus; }
};
/// "1 GPU shared by 4 ranks"; "" where each rank has its own.
[[nodiscard]] std::string share_text(const GpuShare& share);

/// Whether each of these GPUs reads the others' memory directly.
[[nodiscard]] bool are_peers(std::span<const GpuFinding> gpus);

/// GPUs that a run may use, and the GPU part that drives them.
struct UsableGpus {
  std::unique_ptr<Backend> backend = nullptr;  // null: the CPU
  std::vector<GpuFinding> gpus = {};
  std::vector<LibraryFinding> libraries = {};
  std::string asked = {};                           // the text of --gpus
  std::vector<std::filesystem::path> folders = {};  // where the libraries were looked for
  bool mps = false;                                 // NVIDIA's MPS runs here
  GpuShare share = {};                              // of this host
  bool direct = true;        // the GPUs of this host's ranks are known to be are_peers()
  std::string problem = {};  // why there is none, where the request was left out
};
/// Throws Error{device} if ranks are to share a GPU that only one process may use, and no MPS makes
/// one of them.
void require_shareable(const UsableGpus& usable);
/// Throws Error{device} if a library that every GPU needs is not usable, with the folders that were
/// looked in.
void require_libraries(const UsableGpus& usable);
/// Likewise for those by which ranks with a GPU each work together: NCCL.
void require_joining_libraries(const UsableGpus& usable);

/// The GPUs that the request means. Throws Error{device} for what is missing, in the order GPU
/// part, driver, GPUs, libraries. A request that was left out gives the CPU where GPU part, driver
/// or GPU are missing, and loads nothing on a machine without a driver.
[[nodiscard]] UsableGpus open_gpus(const GpuRequest& request, const GpuSearchPaths& places);

/// "13.0" for 13000.
[[nodiscard]] std::string cuda_version_text(int version);
/// The folders as a list for people; "" reads "the loader's search path".
[[nodiscard]] std::string folders_text(std::span<const std::filesystem::path> folders);

}  // namespace trainyard
