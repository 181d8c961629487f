#include "backend/gpus.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <system_error>

#include "backend/plugin.h"
#include "base/error.h"
#include "base/text.h"

namespace trainyard {
namespace {

using Kind = GpuRequest::Kind;

constexpr std::int64_t kMostGpus = 1'024;  // more than any machine has
// The major version of the oldest compute capability for which kernels are compiled
// (CMAKE_CUDA_ARCHITECTURES): before 8.0 there is neither bf16 nor TF32.
constexpr int kLeastCapability = 8;

std::optional<std::int64_t> number_of(std::string_view text, std::int64_t least) {
  const auto number = parse_integer(text);
  return number && *number >= least && *number <= kMostGpus ? number : std::nullopt;
}

/// "0,2,3"; empty if a part is not a number or appears twice.
std::vector<int> ids_of(std::string_view text) {
  std::vector<int> ids;
  for (const std::string& part : split(text, ',')) {
    const auto id = number_of(part, 0);
    const bool twice = id && std::find(ids.begin(), ids.end(), *id) != ids.end();
    if (!id || twice) return {};
    ids.push_back(static_cast<int>(*id));
  }
  return ids;
}

std::optional<GpuRequest> request_of(std::string_view text) {
  GpuRequest request{.text = std::string(text)};
  const auto counted = [&](std::string_view digits, Kind kind) -> std::optional<GpuRequest> {
    const auto count = number_of(digits, 1);
    if (!count) return std::nullopt;
    request.kind = kind;
    request.count = *count;
    return request;
  };
  if (text.empty()) return request;
  if (text == "0" || text == "all") {
    request.kind = text == "0" ? Kind::none : Kind::all;
    return request;
  }
  if (text.starts_with("auto:")) return counted(text.substr(5), Kind::idlest);
  const bool id = text.starts_with("id:");
  if (!id && text.find(',') == std::string_view::npos) return counted(text, Kind::first);
  request.ids = ids_of(id ? text.substr(3) : text);
  request.kind = Kind::listed;
  if (request.ids.empty() || (id && request.ids.size() > 1)) return std::nullopt;
  return request;
}

std::string count_text(std::size_t count) {
  return count == 1 ? "1 GPU was found" : std::to_string(count) + " GPUs were found";
}

[[noreturn]] void refuse(const std::string& asked, const std::string& why) {
  throw device_error((asked.empty() ? "" : "--gpus " + asked + ": ") + why);
}
[[noreturn]] void refuse(const GpuRequest& request, const std::string& why) {
  refuse(request.text, why);
}

/// Throws for a missing library: those that several GPUs need, or those that every GPU needs.
void require(const UsableGpus& usable, bool several_gpus) {
  for (const LibraryFinding& library : usable.libraries) {
    const bool spared = library.problem.empty() || !library.without.empty();
    if (spared || library.several_gpus != several_gpus) continue;
    refuse(usable.asked, library.name + ": " + library.problem + "; looked in " +
                             folders_text(usable.folders) +
                             "; install it, or set TRAINYARD_CUDA_PATH to its folder, or use "
                             "--gpus 0 for the CPU");
  }
}

void require_count(const GpuRequest& request, std::size_t found) {
  if (request.count <= static_cast<std::int64_t>(found)) return;
  refuse(request, count_text(found) + "; ask for at most " + std::to_string(found) +
                      ", or use --gpus 0 for the CPU");
}

std::vector<GpuFinding> listed(const GpuRequest& request, const std::vector<GpuFinding>& gpus) {
  std::vector<GpuFinding> chosen;
  for (const int id : request.ids) {
    if (id >= static_cast<int>(gpus.size())) {
      refuse(request, count_text(gpus.size()) + ", counted from 0: there is no GPU " +
                          std::to_string(id) + "; choose others, or use --gpus 0 for the CPU");
    }
    chosen.push_back(gpus[static_cast<std::size_t>(id)]);
  }
  return chosen;
}

void sort_by_idleness(std::vector<GpuFinding>& gpus) {
  std::stable_sort(gpus.begin(), gpus.end(), [](const GpuFinding& a, const GpuFinding& b) {
    const int busy_a = a.busy_percent.value_or(0), busy_b = b.busy_percent.value_or(0);
    if (busy_a != busy_b) return busy_a < busy_b;
    return a.free_bytes.value_or(0) > b.free_bytes.value_or(0);
  });
}

std::string full_name(const GpuFinding& gpu) {
  return "cuda:" + std::to_string(gpu.ordinal) + " (" + gpu.name + ")";
}

/// Why no process may use a GPU, or this program cannot; "" if it can be used.
std::string fault_of(const GpuFinding& gpu) {
  if (gpu.major < kLeastCapability) {
    return full_name(gpu) + " has compute capability " + std::to_string(gpu.major) + "." +
           std::to_string(gpu.minor) + ", expected " + std::to_string(kLeastCapability) +
           ".0 or newer (A100, RTX 30 or later)";
  }
  if (gpu.compute_mode == ComputeMode::prohibited) {
    return full_name(gpu) +
           " is in prohibited mode: no process may use it; reset the mode (nvidia-smi -i " +
           gpu.bus + " -c DEFAULT)";
  }
  return "";
}

/// The GPUs of the machine that the request selects: usable ones if it leaves the choice open.
std::vector<GpuFinding> meant_of(const GpuRequest& request, const GpuSurvey& survey) {
  if (request.kind == Kind::listed) return listed(request, survey.gpus);
  const bool any = request.kind == Kind::unsaid || request.kind == Kind::idlest;
  std::vector<GpuFinding> gpus = any ? usable_gpus(survey) : survey.gpus;
  if (request.kind == Kind::idlest) sort_by_idleness(gpus);
  if (request.count > 0) {
    require_count(request, gpus.size());
    gpus.resize(static_cast<std::size_t>(request.count));
  }
  if (request.kind == Kind::unsaid) gpus.resize(1);
  return gpus;
}

/// Prefixes errors of `work` with the request.
template <class Work>
auto with_request(const GpuRequest& request, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    refuse(request, std::string(error.what()) + ", or use --gpus 0 for the CPU");
  }
}

}  // namespace

GpuRequest parse_gpus(std::string_view text) {
  const auto request = request_of(text);
  if (request) return *request;
  refuse_command("--gpus '" + std::string(text) +
                 "' is none of: N (the first N), 0,2,3 (those), id:2 (one), all, auto:N (the N "
                 "idlest), 0 (the CPU)");
}

std::vector<GpuFinding> choose_gpus(const GpuRequest& request, const GpuSurvey& survey) {
  if (request.kind == Kind::none) return {};
  const std::string problem = survey_problem(survey);
  if (!problem.empty()) refuse(request, problem + ", or use --gpus 0 for the CPU");
  std::vector<GpuFinding> gpus = meant_of(request, survey);
  for (const GpuFinding& gpu : gpus) {
    const std::string fault = fault_of(gpu);
    if (!fault.empty()) refuse(request, fault + "; name others, or use --gpus 0 for the CPU");
  }
  return gpus;
}

std::vector<GpuFinding> usable_gpus(const GpuSurvey& survey) {
  std::vector<GpuFinding> gpus;
  std::ranges::copy_if(survey.gpus, std::back_inserter(gpus),
                       [](const GpuFinding& gpu) { return fault_of(gpu).empty(); });
  return gpus;
}

std::string survey_problem(const GpuSurvey& survey) {
  if (survey.driver_cuda == 0) {
    return "no NVIDIA driver was found (libcuda.so.1 cannot be opened); install the driver";
  }
  if (survey.driver_cuda / 1000 < survey.runtime_cuda / 1000) {
    return "the NVIDIA driver is too old: it supports CUDA " +
           cuda_version_text(survey.driver_cuda) + ", this program needs CUDA " +
           cuda_version_text(survey.runtime_cuda) +
           "; install a newer driver, or a package with a GPU part for this driver's CUDA";
  }
  if (!survey.problem.empty()) {
    return "the GPUs cannot be used: " + survey.problem +
           "; check that nvidia-smi lists them and that CUDA_VISIBLE_DEVICES names them";
  }
  if (survey.gpus.empty()) return "0 GPUs were found; check that CUDA_VISIBLE_DEVICES names one";
  if (!usable_gpus(survey).empty()) return "";
  return "no GPU can be used: " + fault_of(survey.gpus.front());
}

std::string share_text(const GpuShare& share) {
  if (!share.shared()) return "";
  return count_text(share.gpus, "GPU") + " shared by " + std::to_string(share.ranks) + " ranks";
}

void require_shareable(const UsableGpus& usable) {
  if (!usable.share.shared() || usable.mps) return;
  for (const GpuFinding& gpu : usable.gpus) {
    if (gpu.compute_mode == ComputeMode::any) continue;
    refuse(usable.asked, full_name(gpu) + " is in exclusive mode, for only one process, and " +
                             std::to_string(usable.share.ranks) +
                             " ranks are to share it; start NVIDIA's MPS (nvidia-cuda-mps-control "
                             "-d), reset the mode (nvidia-smi -i " +
                             gpu.bus + " -c DEFAULT), or start no more ranks than GPUs");
  }
}

bool are_peers(std::span<const GpuFinding> gpus) {
  return std::ranges::all_of(gpus, [&](const GpuFinding& gpu) {
    return std::ranges::all_of(gpus, [&](const GpuFinding& other) {
      return other.ordinal == gpu.ordinal ||
             std::ranges::find(gpu.peers, other.ordinal) != gpu.peers.end();
    });
  });
}

void require_libraries(const UsableGpus& usable) { require(usable, false); }

void require_joining_libraries(const UsableGpus& usable) { require(usable, true); }

UsableGpus open_gpus(const GpuRequest& request, const GpuSearchPaths& paths) {
  UsableGpus usable{.asked = request.text, .folders = paths.folders};
  if (request.kind == Kind::none) return usable;
  const bool unsaid = request.kind == Kind::unsaid;
  if (unsaid && !fs::exists(paths.plugin)) {
    usable.problem = "the GPU part of train is not there (" + paths.plugin.string() + ")";
    return usable;
  }
  if (unsaid && !driver_is_there()) {
    usable.problem = survey_problem({});
    return usable;
  }
  usable.backend = with_request(request, [&] { return load_plugin(paths.plugin); });
  const GpuSurvey survey = usable.backend->survey();
  if (unsaid && usable_gpus(survey).empty()) return {.problem = survey_problem(survey)};
  usable.gpus = choose_gpus(request, survey);
  std::error_code unseen;
  usable.mps = !paths.mps_pipes.empty() && fs::exists(paths.mps_pipes / "control", unseen);
  usable.libraries = usable.backend->open_libraries(paths.folders);
  require_libraries(usable);
  return usable;
}

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string folders_text(std::span<const fs::path> folders) {
  std::vector<std::string> words;
  for (const fs::path& folder : folders) {
    words.push_back(folder.empty() ? "the loader's search path" : folder.string());
  }
  return joined(words);
}

}  // namespace trainyard
