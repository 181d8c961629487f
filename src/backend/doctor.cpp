#include "backend/doctor.h"

#include <fmt/format.h>

#include "backend/gpu_text.h"
#include "backend/plugin.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "compute/executor.h"

namespace trainyard {
namespace {

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
