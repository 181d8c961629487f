// Speed of whole training steps on synthetic input.
//
// The folder bench measures: steps, peaks of the machine, the roofline, and why N ranks are not N
// times as fast. It changes no run and writes no run folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/filesystem.h"
#include "bench/counted_step.h"
#include "bench/node_times.h"
#include "bench/peaks.h"
#include "plan/program.h"
#include "run/config/run_config.h"
#include "run/session/session_device.h"

namespace trainyard {

struct BenchOptions {
  std::int64_t batch = 128;
  int windows = 5;  // the median over them is reported
  double window_seconds = 1.0;
  bool layers = false;  // time each step of the plan, on a GPU each node
  bool spans = false;   // on a GPU: when each launch runs within the recorded step
  DeviceChoice device;
};

/// The same step over the same batch in the shards of the run, one after another on this rank.
struct ShardsCost {
  std::int64_t count = 1;
  double step_milliseconds = 0;
};

struct BenchResult {
  std::string network;
  std::string unit = "images";  // what samples are called: "images", "seq"
  std::int64_t batch = 0;
  std::string device;  // "CPU, 2 threads", "cuda:0 (NVIDIA H200), bf16"
  int threads = 0;
  std::int64_t parameters = 0;   // trainable
  double images_per_second = 0;  // median over windows
  double low = 0, high = 0;
  double step_milliseconds = 0;
  double forward_milliseconds = 0, backward_milliseconds = 0, update_milliseconds = 0;
  StepCounts counts;          // counts of one training step
  Peaks peaks;                // measured in the same run
  Floors floors;              // roofline of the step with these peaks
  double share_of_peak = 0;   // share of the arithmetic's peak: the step's throughput / the peak
  double share_of_floor = 0;  // the roofline's time / the step's time
  double first_step_seconds = 0;     // from `started` to the end of the first step
  double peak_mib = 0;               // peak resident memory; on a GPU the model's
  double loss = 0;                   // after the last step, to show that the steps were real
  std::vector<StepTime> layers;      // seconds per step; empty on a GPU
  std::vector<NodeTime> node_times;  // on a GPU instead: the time of each launch of a step
  std::vector<StepSpan> spans;       // BenchOptions::spans
  std::optional<ShardsCost> shards;  // a run's with batch.shards
  std::optional<NodeCounts> nodes;   // nodes of a step on a GPU
};

/// Trains `run`'s network on one synthetic batch in one pass, and also in its shards if it has any.
/// `now` is a clock in seconds, `started` its value when the program started. Throws
/// Error{command_line} for a batch that is not divisible by the shards.
[[nodiscard]] BenchResult bench(const RunConfig& run, const BenchOptions& options,
                                const std::function<double()>& now, double started);

// Throughputs measured by other programs, for comparison with ours.

/// The throughput of another program, or of an earlier run of this one.
struct PeerRate {
  std::string name;  // "torch 1.13.0a0, fp32"
  double images_per_second = 0;
};

/// The throughputs for `net` at `batch` in a file of JSON lines, as `train bench --json` and the
/// peers' scripts write them: {"peer" or "program", "mode", "net", "batch", "images_per_s"}. Lines
/// without a throughput (a heading, an error) are skipped. Throws Error{data} for a file that
/// cannot be read, a line that is not a JSON object (with its number), or no line for this net and
/// batch.
[[nodiscard]] std::vector<PeerRate> read_peer_rates(const fs::path& path, const std::string& net,
                                                    std::int64_t batch);

}  // namespace trainyard
