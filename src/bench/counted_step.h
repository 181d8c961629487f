// What a training step enqueues on a GPU, counted without one.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counted/launch_log.h"
#include "model/training_graph.h"
#include "plan/target.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The nodes of a kind (counted::Launch::kind).
struct KindCount {
  std::string kind;
  std::size_t nodes = 0;
  std::size_t bytes = 0;                        // own bytes; 0 for calls of libraries
  std::map<std::string, std::size_t> functors;  // nodes by functor
};

/// A step, recorded: its nodes, one for each call of cuDNN or cuBLASLt, and its own bytes: those
/// that our launches, copies and fills read and write.
struct NodeCounts {
  std::size_t nodes = 0;
  std::size_t own_bytes = 0;
  std::vector<KindCount> kinds;  // most nodes first, then by name
};

/// Launches of one pass of a training step of `run` on one rank, with images that come from the
/// host. `graph` is that of the pass, `target` a GPU's.
[[nodiscard]] std::vector<counted::Launch> count_step(const RunConfig& run,
                                                      const TrainingGraph& graph,
                                                      const Target& target);
/// The same by StepRunner::parts().
[[nodiscard]] std::vector<std::vector<counted::Launch>> count_parts(const RunConfig& run,
                                                                    const TrainingGraph& graph,
                                                                    const Target& target);
/// Pure.
[[nodiscard]] NodeCounts node_counts(const std::vector<counted::Launch>& launches);

// The time of a step on a GPU that is named, predicted from what the step enqueues.

/// What a prediction assumes of a GPU.
struct GpuRates {
  std::string_view name;
  double gigabytes_per_second;  // memory bandwidth, bytes read and written
  // 1e9 operations per second of dense products, by the types of their factors: 16 bits, TF32, f32.
  double gflops_16, gflops_tf32, gflops_f32;
  std::string_view source;

  /// In the precision of a GPU's target.
  [[nodiscard]] double gflops(const Target& target) const;
};

/// H200, H100, A100 and RTX 4090.
[[nodiscard]] std::span<const GpuRates> known_gpu_rates();

/// How long nodes of a kind take on every GPU: microseconds, and then the longer of their bytes at
/// the rate of the memory and their operations at that of products, divided by `share`. The
/// microseconds are of a node's start, of waiting for memory and of its blocks for each other; the
/// share is above 1 where caches help. Only `share` times the GPU's rates depends on the GPU.
struct NodeRate {
  std::string_view kind;     // counted::Launch::kind; "": any
  std::string_view functor;  // "": any
  bool on_side_queue;
  double microseconds, share;
};
/// The first one that a launch fits is its own. scripts/gpu_kit/fit_rates.sh fits them to `train
/// bench --layers --json` on a GPU (docs/results/log/gpu.md, "A step on a GPU, counted").
[[nodiscard]] std::span<const NodeRate> node_rates();
/// Pure.
[[nodiscard]] const NodeRate& rate_of(const counted::Launch& launch);

/// The sum over all nodes, also those beside: what they hide of each other's waiting they take from
/// each other's rate (of three steps on an H200 the sum is 93 to 101 %). Pure.
[[nodiscard]] double predicted_milliseconds(const std::vector<counted::Launch>& launches,
                                            const Target& target, const GpuRates& gpu);

}  // namespace trainyard
