// What a look at a machine's GPUs found: plain data, the same whether a GPU part is there or not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// How many processes may use a GPU, as its owner has set it (nvidia-smi -c).
enum class ComputeMode { any, exclusive, prohibited };

/// What decides how a GPU works, as its driver says; empty where that does not say.
struct GpuCondition {
  std::optional<bool> mig;           // cut into parts
  std::optional<bool> ecc;           // memory errors are corrected
  std::optional<bool> rows_pending;  // rows of memory wait for a reset to be replaced
  std::optional<bool> rows_failed;   // or could not be replaced
  std::string fabric;                // of NVSwitch: "started", "not started"; empty: there is none
  std::optional<unsigned> sm_mhz;    // clocks of this moment
  std::optional<unsigned> most_sm_mhz;
  std::optional<unsigned> memory_mhz;
  std::optional<double> power_limit_watts;
  std::vector<std::string> slowed_by;  // "power cap", "heat"
};

struct GpuFinding {
  int ordinal = 0;  // as CUDA counts the visible ones
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::size_t total_bytes = 0;
  std::optional<std::size_t> free_bytes;  // empty where NVML does not say
  std::optional<int> busy_percent;        // of the last moments, likewise
  std::string bus;                        // "0000:17:00.0"
  ComputeMode compute_mode = ComputeMode::any;
  std::vector<int> peers;             // GPUs whose memory this one reads directly
  std::vector<int> nvlinks = {};      // GPUs that NVLink joins to this one
  std::optional<int> numa_node = {};  // the host's, that it is attached to
  GpuCondition condition = {};
};

struct GpuSurvey {
  std::string driver;    // its own version, "580.95.05"; empty: not known
  int driver_cuda = 0;   // newest CUDA that the driver supports, 13000 for 13.0; 0: no driver
  int runtime_cuda = 0;  // CUDA that the GPU part was built with
  std::vector<GpuFinding> gpus;
  std::string problem;  // why no GPU can be used, CUDA's own text; empty if none stands in the way
};

}  // namespace trainyard
