// `train doctor`: what this machine has, what is missing, and how to get it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/gpus.h"
#include "base/filesystem.h"
#include "base/host.h"
#include "formats/json.h"

namespace trainyard {

/// What limits a process on this machine, besides its processors.
struct HostFacts {
  FreeMemory memory;
  std::optional<double> processor_quota;    // the control groups', in processors; empty: none
  std::optional<std::size_t> shared_bytes;  // size of /dev/shm, which ranks and NCCL share; empty:
                                            // it does not exist
  std::optional<std::uint64_t> locked_bytes;  // lockable, as pinned memory for networks is; empty:
                                              // no limit
};

/// `root` contains proc, sys and dev.
[[nodiscard]] HostFacts look_at_host(const fs::path& root = "/");
/// For people, in one line.
[[nodiscard]] std::string host_text(const HostFacts& host);
[[nodiscard]] Json host_json(const HostFacts& host);

/// What was found; the report depends on nothing else.
struct Findings {
  std::string version;        // "train 0.1.0"
  int cores = 0;              // physical ones that this process may use
  std::string vectors;        // "AVX-512", "AVX2"
  std::string cpu_libraries;  // "oneDNN 2.6.3"
  HostFacts host;
  fs::path plugin;
  std::string plugin_problem;       // why the GPU part cannot be used; empty: it is loaded
  std::optional<GpuSurvey> survey;  // with a GPU part
  std::vector<LibraryFinding> libraries;
  std::vector<fs::path> folders;  // where libraries were looked for
  bool driver = false;            // NVIDIA's is there: the machine is meant to have a GPU
};

/// Examines the machine. Throws nothing for what is missing.
[[nodiscard]] Findings examine(std::string version, const GpuSearchPaths& paths);

/// What prevents training on a GPU on this machine, each with how to fix it; empty: nothing.
[[nodiscard]] std::vector<std::string> missing(const Findings& findings);
/// What does not prevent training, but slows it down or may end it.
[[nodiscard]] std::vector<std::string> notes(const Findings& findings);
/// For people: one line per thing found, then one per thing missing.
[[nodiscard]] std::string doctor_text(const Findings& findings);
/// The same for programs.
[[nodiscard]] Json doctor_json(const Findings& findings);
/// 0, or 8 if something is missing on a machine with NVIDIA's driver; others train on the CPU.
[[nodiscard]] int doctor_exit_code(const Findings& findings);

}  // namespace trainyard
