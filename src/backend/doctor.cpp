#include "backend/doctor.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <span>
#include <utility>

#include "backend/plugin.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "compute/executor.h"
#include "device/gpu_survey.h"

namespace trainyard {
namespace {

constexpr double kMebibyte = 1024.0 * 1024, kGibibyte = 1024 * kMebibyte;

std::string mib(double bytes) { return fmt::format("{:.0f} MiB", bytes / kMebibyte); }

std::optional<std::size_t> size_of(const fs::path& folder) {
  struct statvfs system {};
  if (statvfs(folder.c_str(), &system) != 0) return std::nullopt;
  return static_cast<std::size_t>(system.f_blocks) * system.f_frsize;
}

std::optional<std::uint64_t> locked_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

std::string short_name(const GpuFinding& gpu) { return "cuda:" + std::to_string(gpu.ordinal); }

std::string gib(std::size_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / kGibibyte);
}

std::string memory_text(const GpuFinding& gpu) {
  const std::string total = gib(gpu.total_bytes);
  return gpu.free_bytes ? gib(*gpu.free_bytes) + " of " + total + " free" : total;
}

bool holds(const std::vector<int>& list, int ordinal) {
  return std::find(list.begin(), list.end(), ordinal) != list.end();
}

std::string link_text(const GpuFinding& from, const GpuFinding& to) {
  if (from.ordinal == to.ordinal) return "-";
  if (holds(from.nvlinks, to.ordinal)) return "NVLink";
  return holds(from.peers, to.ordinal) ? "PCIe" : "host";
}

std::string clock_text(const GpuCondition& condition) {
  std::string text = fmt::format("SM clock {} ", *condition.sm_mhz);
  if (condition.most_sm_mhz) text += fmt::format("of {} ", *condition.most_sm_mhz);
  return text + "MHz";
}

std::string mode_text(ComputeMode mode) {
  if (mode == ComputeMode::any) return "default";
  return mode == ComputeMode::exclusive ? "exclusive" : "prohibited";
}

std::string on_off(bool on) { return on ? "on" : "off"; }

void add_notes(const GpuFinding& gpu, std::vector<std::string>& list) {
  const GpuCondition& found = gpu.condition;
  const auto note = [&](bool holds, const std::string& text) {
    if (holds) list.push_back(short_name(gpu) + " " + text);
  };
  const bool hot = std::any_of(found.slowed_by.begin(), found.slowed_by.end(), [](const auto& why) {
    return why.starts_with("heat") || why == "hardware slowdown" || why == "power brake";
  });
  note(gpu.compute_mode == ComputeMode::prohibited,
       "accepts no programs (compute mode prohibited); nvidia-smi -c DEFAULT allows them");
  note(gpu.compute_mode == ComputeMode::exclusive,
       "accepts one program at a time (compute mode exclusive): ranks can share it only through "
       "MPS; nvidia-smi -c DEFAULT allows more");
  note(found.mig.value_or(false),
       "is partitioned (MIG): a run uses one partition, and NCCL cannot join them; nvidia-smi -mig "
       "0 undoes it");
  note(found.rows_pending.value_or(false),
       "has memory rows that wait to be remapped; reset it (nvidia-smi -r) or restart the "
       "machine");
  note(found.rows_failed.value_or(false),
       "has memory rows that could not be remapped; have the GPU replaced");
  note(!found.fabric.empty() && found.fabric != "started",
       "is connected to other GPUs by NVSwitch, which is " + found.fabric +
           "; check that nvidia-fabricmanager runs, and its log");
  note(hot, "is slowed down by " + joined(found.slowed_by) + "; check its cooling and power");
}

/// Name and basic properties, in one line.
std::string gpu_text(const GpuFinding& gpu) {
  std::string text = fmt::format("{}, compute capability {}.{}, {}", gpu.name, gpu.major, gpu.minor,
                                 memory_text(gpu));
  if (gpu.busy_percent) text += fmt::format(", {} % busy", *gpu.busy_percent);
  text += ", bus " + gpu.bus;
  if (gpu.numa_node) text += fmt::format(", NUMA node {}", *gpu.numa_node);
  return text;
}

/// Settings and clocks, in one line.
std::string condition_text(const GpuFinding& gpu) {
  const GpuCondition& condition = gpu.condition;
  std::vector<std::string> parts{"compute mode " + mode_text(gpu.compute_mode)};
  if (condition.mig) parts.push_back("MIG " + on_off(*condition.mig));
  if (condition.ecc) parts.push_back("ECC " + on_off(*condition.ecc));
  if (!condition.fabric.empty()) parts.push_back("NVSwitch " + condition.fabric);
  if (condition.sm_mhz) parts.push_back(clock_text(condition));
  if (condition.memory_mhz) parts.push_back(fmt::format("memory {} MHz", *condition.memory_mhz));
  if (condition.power_limit_watts) {
    parts.push_back(fmt::format("power cap {:.0f} W", *condition.power_limit_watts));
  }
  if (!condition.slowed_by.empty()) {
    parts.push_back("slowed by " + joined(condition.slowed_by, " and "));
  }
  return joined(parts);
}

/// How the GPUs reach each other's memory, by NVLink, by PCIe or through the host: a row per GPU
/// below a row of ordinals, each with its heading. None for a single GPU.
std::vector<std::pair<std::string, std::string>> link_rows(std::span<const GpuFinding> gpus) {
  std::vector<std::pair<std::string, std::string>> rows;
  if (gpus.size() < 2) return rows;
  std::string ordinals;
  for (const GpuFinding& gpu : gpus) ordinals += fmt::format("{:<8}", gpu.ordinal);
  rows.emplace_back("links", std::string(trimmed(ordinals)));
  for (const GpuFinding& from : gpus) {
    std::string links;
    for (const GpuFinding& to : gpus) links += fmt::format("{:<8}", link_text(from, to));
    rows.emplace_back("  cuda:" + std::to_string(from.ordinal), std::string(trimmed(links)));
  }
  return rows;
}

/// Conditions of the GPUs that slow down training or may end it, each with how to fix it.
std::vector<std::string> gpu_notes(std::span<const GpuFinding> gpus) {
  std::vector<std::string> list;
  for (const GpuFinding& gpu : gpus) add_notes(gpu, list);
  return list;
}

Json gpu_json(const GpuFinding& gpu) {
  const GpuCondition& found = gpu.condition;
  Json json{{"ordinal", gpu.ordinal},
            {"name", gpu.name},
            {"compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor)},
            {"total_bytes", gpu.total_bytes},
            {"bus", gpu.bus},
            {"compute_mode", mode_text(gpu.compute_mode)},
            {"peers", gpu.peers},
            {"nvlinks", gpu.nvlinks},
            {"slowed_by", found.slowed_by}};
  const auto add = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  add("free_bytes", gpu.free_bytes);
  add("busy_percent", gpu.busy_percent);
  add("numa_node", gpu.numa_node);
  add("mig", found.mig);
  add("ecc", found.ecc);
  add("rows_pending", found.rows_pending);
  add("rows_failed", found.rows_failed);
  add("sm_mhz", found.sm_mhz);
  add("most_sm_mhz", found.most_sm_mhz);
  add("memory_mhz", found.memory_mhz);
  add("power_limit_watts", found.power_limit_watts);
  if (!found.fabric.empty()) json["fabric"] = found.fabric;
  return json;
}

/// A row: its heading in ten columns, then the finding.
std::string row(std::string_view about, const std::string& finding) {
  return fmt::format("{:<9} {}\n", about, finding);
}

std::string driver_text(const GpuSurvey& survey) {
  if (survey.driver_cuda == 0) return "none";
  const std::string own = survey.driver.empty() ? "" : survey.driver + ", ";
  return own + "up to CUDA " + cuda_version_text(survey.driver_cuda);
}

std::string library_text(const LibraryFinding& library) {
  if (library.problem.empty()) return library.version + ", " + library.path.string();
  return library.problem + (library.without.empty() ? "" : ": " + library.without);
}

Json json_of(const LibraryFinding& library) {
  return {{"name", library.name},          {"file", library.file},
          {"path", library.path.string()}, {"version", library.version},
          {"problem", library.problem},    {"without", library.without}};
}

Json gpu_part_json(const Findings& findings) {
  Json json{{"path", findings.plugin.string()}, {"problem", findings.plugin_problem}};
  if (findings.survey) json["cuda"] = cuda_version_text(findings.survey->runtime_cuda);
  return json;
}

Json driver_json(const GpuSurvey& survey) {
  return {{"version", survey.driver},
          {"cuda", survey.driver_cuda == 0 ? "" : cuda_version_text(survey.driver_cuda)}};
}

}  // namespace

HostFacts look_at_host(const fs::path& root) {
  return {.memory = free_host_memory(root),
          .processor_quota = processor_quota(root),
          .shared_bytes = size_of(root / "dev/shm"),
          .locked_bytes = locked_limit()};
}

std::string host_text(const HostFacts& host) {
  std::string text = "free: unknown";
  if (host.memory.bytes > 0) {
    text = mib(static_cast<double>(host.memory.bytes)) + " free by " + host.memory.bound;
  }
  text += ", /dev/shm " +
          (host.shared_bytes ? mib(static_cast<double>(*host.shared_bytes)) : "does not exist");
  text += ", locked at most ";
  text += host.locked_bytes ? mib(static_cast<double>(*host.locked_bytes)) : "all";
  if (host.processor_quota) {
    text += fmt::format(", {:g} processors by its control group", *host.processor_quota);
  }
  return text;
}

Json host_json(const HostFacts& host) {
  Json json{{"free_bytes", host.memory.bytes}, {"memory_bound", host.memory.bound}};
  if (host.processor_quota) json["processor_quota"] = *host.processor_quota;
  if (host.shared_bytes) json["shared_bytes"] = *host.shared_bytes;
  if (host.locked_bytes) json["locked_bytes"] = *host.locked_bytes;
  return json;
}

Findings examine(std::string version, const GpuSearchPaths& paths) {
  Findings findings{.version = std::move(version),
                    .cores = available_cores(),
                    .vectors = processor_has_avx512() ? "AVX-512" : "AVX2",
                    .cpu_libraries = make_cpu_executors()->libraries(),
                    .host = look_at_host(),
                    .plugin = paths.plugin,
                    .folders = paths.folders,
                    .driver = driver_is_there()};
  try {
    const std::unique_ptr<Backend> backend = load_plugin(paths.plugin);
    findings.survey = backend->survey();
    findings.libraries = backend->open_libraries(paths.folders);
  } catch (const Error& error) {
    findings.plugin_problem = error.what();
  }
  return findings;
}

std::vector<std::string> missing(const Findings& findings) {
  std::vector<std::string> list;
  if (!findings.plugin_problem.empty()) list.push_back(findings.plugin_problem);
  if (findings.survey) {
    const std::string problem = survey_problem(*findings.survey);
    if (!problem.empty()) list.push_back(problem);
  }
  for (const LibraryFinding& library : findings.libraries) {
    if (library.problem.empty() || !library.without.empty()) continue;
    list.push_back(library.name + ": " + library.problem + "; looked in " +
                   folders_text(findings.folders) +
                   "; install it, or set TRAINYARD_CUDA_PATH to its folder");
  }
  return list;
}

std::vector<std::string> notes(const Findings& findings) {
  return findings.survey ? gpu_notes(findings.survey->gpus) : std::vector<std::string>();
}

std::string doctor_text(const Findings& findings) {
  std::string text = findings.version + "\n";
  text += row("CPU", fmt::format("{}, {}, {}", count_text(findings.cores, "core"), findings.vectors,
                                 findings.cpu_libraries));
  text += row("memory", host_text(findings.host));
  if (findings.survey) {
    const GpuSurvey& survey = *findings.survey;
    text += row("GPU part",
                findings.plugin.string() + ", CUDA " + cuda_version_text(survey.runtime_cuda));
    text += row("driver", driver_text(survey));
    for (const LibraryFinding& library : findings.libraries) {
      text += row(library.name, library_text(library));
    }
    if (survey.gpus.empty()) text += row("GPUs", "none");
    for (const GpuFinding& gpu : survey.gpus) {
      text += row("cuda:" + std::to_string(gpu.ordinal), gpu_text(gpu));
      text += row("", condition_text(gpu));
    }
    for (const auto& [about, links] : link_rows(survey.gpus)) text += row(about, links);
  } else {
    text += row("GPU part", "none");
  }
  const std::vector<std::string> list = missing(findings);
  for (const std::string& note : notes(findings)) text += "note:     " + note + "\n";
  for (const std::string& thing : list) text += "missing:  " + thing + "\n";
  return text + (list.empty() ? "everything that training on a GPU needs was found\n"
                              : "training on the CPU needs none of these\n");
}

Json doctor_json(const Findings& findings) {
  Json json{{"version", findings.version},
            {"cpu",
             {{"cores", findings.cores},
              {"vectors", findings.vectors},
              {"libraries", findings.cpu_libraries}}},
            {"host", host_json(findings.host)},
            {"gpu_part", gpu_part_json(findings)},
            {"libraries", Json::array()},
            {"gpus", Json::array()},
            {"notes", notes(findings)},
            {"missing", missing(findings)}};
  for (const LibraryFinding& library : findings.libraries) {
    json["libraries"].push_back(json_of(library));
  }
  if (findings.survey) {
    json["driver"] = driver_json(*findings.survey);
    for (const GpuFinding& gpu : findings.survey->gpus) json["gpus"].push_back(gpu_json(gpu));
  }
  return json;
}

int doctor_exit_code(const Findings& findings) {
  const bool healthy = !findings.driver || missing(findings).empty();
  return healthy ? 0 : static_cast<int>(ErrorKind::device);
}

}  // namespace trainyard
