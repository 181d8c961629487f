// The result of a GPU survey: plain data, the same with and without the GPU part.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// How many processes may use a GPU, as set by its owner (nvidia-smi -c).
enum class ComputeMode { any, exclusive, prohibited };

/// State that decides how a GPU runs, as reported by its driver; empty if not reported.
struct GpuCondition {
  std::optional<bool> mig;           // divided into parts
  std::optional<bool> ecc;           // memory errors are corrected
  std::optional<bool> rows_pending;  // memory rows wait for a reset to be remapped
  std::optional<bool> rows_failed;   // or could not be remapped
  std::string fabric;  // state of NVSwitch: "started", "not started"; empty: there is none
  std::optional<unsigned> sm_mhz;  // current clocks
  std::optional<unsigned> most_sm_mhz;
  std::optional<unsigned> memory_mhz;
  std::optional<double> power_limit_watts;
  std::vector<std::string> slowed_by;  // "power cap", "heat"
};

struct GpuFinding {
  int ordinal = 0;  // in CUDA's numbering of visible GPUs
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t total_bytes = 0;
  std::optional<std::size_t> free_bytes;  // empty if NVML does not report it
  std::optional<int> busy_percent;        // use in the recent past; empty as above
  std::string bus;                        // "0000:17:00.0"
  ComputeMode compute_mode = ComputeMode::any;
  std::vector<int> peers;             // GPUs whose memory this one can read directly
  std::vector<int> nvlinks = {};      // GPUs connected to this one by NVLink
  std::optional<int> numa_node = {};  // node of the host that it is attached to
  GpuCondition condition = {};
};

struct GpuSurvey {
  std::string driver;    // version, "580.95.05"; empty: unknown
  int driver_cuda = 0;   // newest CUDA supported by the driver, 13000 for 13.0; 0: no driver
  int runtime_cuda = 0;  // CUDA of the GPU part's build
  std::vector<GpuFinding> gpus;
  std::string problem;  // why no GPU can be used, CUDA's own text; empty if there is no problem
};

}  // namespace trainyard
