#include "plan/model_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "plan/passes.h"

namespace trainyard {
namespace {

std::uint64_t shards_of(const ModelMemory::Sizes& sizes) {
  const auto shards = static_cast<std::uint64_t>(sizes.shards);
  TY_CHECK(std::has_single_bit(shards), "the shards of a rank are a power of two");
  return shards;
}

std::size_t transient_bytes_without_workspaces(Plan plan) {
  for (const PlanStep& step : plan.steps) {
    if (step.workspace != kNoTensor) plan.tensors[step.workspace].bytes = 0;
  }
  plan_memory(plan);
  return plan.transient_bytes;
}

}  // namespace

ModelMemory::Offsets ModelMemory::offsets_of(const BlockLayout& blocks, const Sizes& sizes) {
  const std::size_t element = size_of(sizes.type);
  const std::size_t parameter_bytes = static_cast<std::size_t>(blocks.parameter_elements) * element;
  const std::size_t gradient_bytes = static_cast<std::size_t>(blocks.gradient_elements()) * element;
  OffsetAllocator allocator;
  Offsets offsets;
  offsets.weights = allocator.take(parameter_bytes);
  offsets.gradients = allocator.take(gradient_bytes);
  offsets.gradient_bytes = allocator.used() - offsets.gradients;
  const auto levels = static_cast<std::size_t>(std::countr_zero(shards_of(sizes)));
  offsets.shard_sums = allocator.take(offsets.gradient_bytes * levels);
  offsets.gradient_sum = sizes.accumulates ? allocator.take(gradient_bytes)
                         : levels > 0      ? offsets.shard_sums
                                           : offsets.gradients;
  offsets.slot_bytes = aligned_bytes(parameter_bytes);
  offsets.slots = allocator.take(offsets.slot_bytes * static_cast<std::size_t>(sizes.slots));
  const std::size_t running_bytes = static_cast<std::size_t>(blocks.statistic_elements) * element;
  offsets.running = allocator.take(running_bytes);
  offsets.averaged_weights = allocator.take(sizes.averages ? parameter_bytes : 0);
  offsets.averaged_running = allocator.take(sizes.averages ? running_bytes : 0);
  offsets.packed = allocator.take(blocks.packed.bytes);
  offsets.averaged_packed = allocator.take(sizes.packs_average ? blocks.packed.bytes : 0);
  offsets.inputs = allocator.take(sizes.input_bytes);
  offsets.sample_index =
      allocator.take(static_cast<std::size_t>(sizes.batch) * sizeof(std::int64_t));
  offsets.staging = allocator.take(sizes.staging_bytes);
  offsets.state = allocator.take(sizeof(StepState));
  offsets.finished = allocator.take((kMostSiblings + 1) * kColumnGroups * sizeof(std::uint32_t));
  offsets.results = allocator.take(static_cast<std::size_t>(sizes.results) * sizeof(double));
  const auto outputs = static_cast<std::size_t>(sizes.kept > 0 ? sizes.outputs : 0);
  offsets.plain_outputs = allocator.take(static_cast<std::size_t>(sizes.batch) * outputs * element);
  offsets.output_rows =
      allocator.take(static_cast<std::size_t>(sizes.kept) * outputs * sizeof(float));
  offsets.bytes = allocator.used();
  return offsets;
}

ModelMemory::ModelMemory(Device& device, Queue& queue, const BlockLayout& blocks,
                         const Sizes& sizes)
    : sizes_(sizes), offsets_(offsets_of(blocks, sizes)), buffer_(device.allocate(offsets_.bytes)) {
  queue.fill(buffer_->data(), std::byte{0}, buffer_->bytes());
  const StepState initial;
  queue.copy_from_host(state(), &initial, sizeof initial);
}

std::byte* ModelMemory::slot(int index) const {
  return at(offsets_.slots + static_cast<std::size_t>(index) * offsets_.slot_bytes);
}

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
