// The time of a step on a GPU that is named, predicted from what the step enqueues.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "counted/launch_log.h"
#include "plan/target.h"

namespace trainyard {

/// What a prediction assumes of a GPU.
struct GpuRates {
  std::string_view name;
  double gigabytes_per_second;  // of its memory, bytes read and written
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
/// bench --layers --json` on a GPU (docs/results, "A step on a GPU, counted").
[[nodiscard]] std::span<const NodeRate> node_rates();
/// Pure.
[[nodiscard]] const NodeRate& rate_of(const counted::Launch& launch);

/// The sum over all nodes, also those beside: what they hide of each other's waiting they take from
/// each other's rate (of three steps on an H200 the sum is 93 to 101 %). Pure.
[[nodiscard]] double predicted_milliseconds(const std::vector<counted::Launch>& launches,
                                            const Target& target, const GpuRates& gpu);

}  // namespace trainyard
