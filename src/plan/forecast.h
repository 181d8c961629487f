// Predicts a model's memory, by kind, before any of it is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "plan/blocks.h"
#include "plan/plan.h"
#include "plan/program.h"

namespace trainyard {

/// Bytes that a model takes, by kind. The kinds add up to the memory allocated.
struct MemoryForecast {
  std::size_t weights = 0;      // with running statistics, their averages, packed weights
  std::size_t gradients = 0;    // with batch statistics, and sums over shards and micro-batches
  std::size_t optimizer = 0;    // its state
  std::size_t inputs = 0;       // a batch, and the state that kernels read
  std::size_t activations = 0;  // with their gradients and what forward saves for backward
  std::size_t workspace = 0;    // how much larger the steps' workspaces make the transient arena
  [[nodiscard]] std::size_t total() const {
    return weights + gradients + optimizer + inputs + activations + workspace;
  }
  bool operator==(const MemoryForecast&) const = default;
};

/// The memory of programs that run in turn in one transient arena. `programs` are complete. Pure.
[[nodiscard]] MemoryForecast forecast(const BlockLayout& blocks, const ModelMemory::Sizes& sizes,
                                      std::span<const Plan* const> programs);

/// "memory: 12.3 MiB = 1.2 weights + ...".
[[nodiscard]] std::string text_of(const MemoryForecast& forecast);

/// The largest batch of at most `most` samples for which `total_at(batch)` is at most `bytes`, 0 if
/// there is none. A binary search: calls `total_at` about log2(most) times; it should not decrease
/// as the batch grows.
[[nodiscard]] std::int64_t largest_batch(
    std::size_t bytes, std::int64_t most,
    const std::function<std::size_t(std::int64_t batch)>& total_at);

}  // namespace trainyard
