#include "cli/version.h"

#include <fmt/format.h>

#include "backend/doctor.h"
#include "base/error.h"
#include "base/filesystem.h"
#include "base/parallel.h"
#include "cli/commit.h"
#include "cli/run_flags.h"
#include "compute/devices/cpu_executors.h"

namespace trainyard::cli {
namespace {

std::string fact(std::string_view about, const std::string& finding) {
  return fmt::format("{:<9} {}\n", about, finding);
}

std::string cpu_text(const Findings& findings) {
  return std::string(processor_has_avx512() ? "x86-64-v4: " : "x86-64-v3: ") + findings.vectors +
         (cpu_executors_have_bf16() ? ", AVX512-BF16; " : "; ") + findings.cpu_libraries;
}

std::string gpu_part_text(const Findings& findings) {
  std::error_code ignored;
  if (!fs::exists(findings.plugin, ignored)) return "none";
  if (!findings.survey) return findings.plugin_problem;
  std::string text = "CUDA " + cuda_version_text(findings.survey->runtime_cuda);
  for (const LibraryFinding& library : findings.libraries) {
    text += ", " + library.name + " " + (library.version.empty() ? "missing" : library.version);
  }
  return text + "; " + findings.plugin.string();
}

}  // namespace

std::string version_text() { return "train " TRAINYARD_VERSION; }

std::string version_date() { return TRAINYARD_DATE; }

std::string version_report() {
  std::string text = version_text() + "\n" +
                     fact("commit", TRAINYARD_COMMIT " of " TRAINYARD_DATE) +
                     fact("compiler", TRAINYARD_COMPILER);
  try {
    require_supported_processor();
    const Findings findings = examine(version_text(), gpu_search_paths());
    text += fact("CPU", cpu_text(findings)) + fact("GPU part", gpu_part_text(findings));
  } catch (const Error& error) {
    text += fact("CPU", error.what());
  }
  text.pop_back();
  return text;
}

}  // namespace trainyard::cli
