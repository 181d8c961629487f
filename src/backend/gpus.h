// --gpus: the GPUs that a run requests, and those that it gets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/filesystem.h"
#include "device/gpu_survey.h"

namespace trainyard {

/// The value of --gpus.
struct GpuRequest {
  enum class Kind {
    unsaid,  // omitted: one GPU if a usable one exists, else the CPU
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

/// Throws Error{command_line} for text that has none of the forms.
[[nodiscard]] GpuRequest parse_gpus(std::string_view text);

/// The GPUs that the request selects, in order; usable ones if it leaves the choice open. Throws
/// Error{device} that names the request, what was found and what to do, if the machine has no
/// usable GPU or too few, or if a selected one is too old or in prohibited mode.
[[nodiscard]] std::vector<GpuFinding> choose_gpus(const GpuRequest& request,
                                                  const GpuSurvey& survey);

/// GPUs of compute capability 8.0 or newer, for which the kernels are compiled.
[[nodiscard]] std::vector<GpuFinding> usable_gpus(const GpuSurvey& survey);
/// Why no GPU can be used: no driver, a driver that is too old, no GPU, none new enough; "" if one
/// can.
[[nodiscard]] std::string survey_problem(const GpuSurvey& survey);
/// Where to look for this program's GPU part and its libraries.
struct GpuSearchPaths {
  fs::path plugin;
  std::vector<fs::path> folders;
  /// Where NVIDIA's MPS has its pipes while it runs; empty: not checked.
  fs::path mps_pipes = {};
};
/// The ranks of one host, and the GPUs that they are assigned to in turn.
struct GpuShare {
  int ranks = 1;
  int gpus = 1;
  /// Whether several ranks use the same GPU.
  [[nodiscard]] bool shared() const { return ranks > gpus; }
};
/// "1 GPU shared by 4 ranks"; "" if each rank has its own.
[[nodiscard]] std::string share_text(const GpuShare& share);

/// Whether each of these GPUs reads the others' memory directly.
[[nodiscard]] bool are_peers(std::span<const GpuFinding> gpus);

/// GPUs that a run may use, and the GPU part that drives them.
struct UsableGpus {
  std::unique_ptr<Backend> backend = nullptr;  // null: the CPU
  std::vector<GpuFinding> gpus = {};
  std::vector<LibraryFinding> libraries = {};
  std::string asked = {};              // the text of --gpus
  std::vector<fs::path> folders = {};  // where the libraries were looked for
  bool mps = false;                    // NVIDIA's MPS runs here
  GpuShare share = {};                 // this host's
  bool direct = true;                  // the GPUs of this host's ranks are known to be are_peers()
  std::string problem = {};            // why there is none, if the request was omitted
};
/// Throws Error{device} if ranks are to share a GPU that only one process may use, and no MPS
/// combines them into one process.
void require_shareable(const UsableGpus& usable);
/// Throws Error{device} if a library that every GPU needs is not usable, naming the folders
/// searched.
void require_libraries(const UsableGpus& usable);
/// The same for the libraries that join ranks with a GPU each: NCCL.
void require_joining_libraries(const UsableGpus& usable);

/// The GPUs that the request selects. Throws Error{device} for what is missing, in the order GPU
/// part, driver, GPUs, libraries. An omitted request gives the CPU if GPU part, driver or GPU are
/// missing, and loads nothing on a machine without a driver.
[[nodiscard]] UsableGpus open_gpus(const GpuRequest& request, const GpuSearchPaths& paths);

/// "13.0" for 13000.
[[nodiscard]] std::string cuda_version_text(int version);
/// The folders as a list for people; "" reads "the loader's search path".
[[nodiscard]] std::string folders_text(std::span<const fs::path> folders);

}  // namespace trainyard
