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

/// Microseconds that a node takes besides its work, on every GPU: it starts when the one before it
/// has ended, and then waits for memory, and its blocks for each other. Fitted to captured steps of
/// three networks on an H100 (docs/results).
inline constexpr double kNodeMicroseconds = 6.5;

/// The sum over all nodes of kNodeMicroseconds and the longer of two times: of the node's bytes at
/// the rate of the memory, of its operations at that of products. Nothing is found in a cache, no
/// two nodes run side by side, and every node reaches the full rates: the first two make it too
/// long, the last too short. Pure.
[[nodiscard]] double predicted_milliseconds(const std::vector<counted::Launch>& launches,
                                            const Target& target, const GpuRates& gpu);

}  // namespace trainyard
