#include "plan/forecast.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainyard {
namespace {

std::size_t transient_bytes_without_workspaces(Plan plan) {
  for (const PlanStep& step : plan.steps) {
    if (step.workspace != kNoTensor) plan.tensors[step.workspace].bytes = 0;
  }
  plan_memory(plan);
  return plan.transient_bytes;
}

}  // namespace

MemoryForecast forecast(const BlockLayout& blocks, const ModelMemory::Sizes& sizes,
                        std::span<const Plan* const> programs) {
  const ModelMemory::Offsets offsets = ModelMemory::offsets_of(blocks, sizes);
  MemoryForecast result{.weights = offsets.gradients + (offsets.inputs - offsets.running),
                        .gradients = offsets.slots - offsets.gradients,
                        .optimizer = offsets.running - offsets.slots,
                        .inputs = offsets.bytes - offsets.inputs};
  std::size_t transient = 0;
  for (const Plan* plan : programs) {
    transient = std::max(transient, plan->transient_bytes);
    result.activations = std::max(result.activations, transient_bytes_without_workspaces(*plan));
  }
  // Placed largest first, tensors may by chance pack a little tighter with workspaces than without.
  result.activations = std::min(result.activations, transient);
  result.workspace = transient - result.activations;
  return result;
}

std::string text_of(const MemoryForecast& forecast) {
  const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  return fmt::format(
      "memory: {:.1f} MiB = {:.1f} weights + {:.1f} gradients + {:.1f} optimizer + {:.1f} input + "
      "{:.1f} activations + {:.1f} workspace",
      mib(forecast.total()), mib(forecast.weights), mib(forecast.gradients),
      mib(forecast.optimizer), mib(forecast.inputs), mib(forecast.activations),
      mib(forecast.workspace));
}

std::int64_t largest_batch(std::size_t bytes, std::int64_t most,
                           const std::function<std::size_t(std::int64_t batch)>& total_at) {
  std::int64_t fits = 0, too_large = most + 1;
  while (too_large - fits > 1) {
    const std::int64_t middle = fits + (too_large - fits) / 2;
    (total_at(middle) <= bytes ? fits : too_large) = middle;
  }
  return fits;
}

}  // namespace trainyard
