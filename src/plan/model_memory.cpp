#include "plan/model_memory.h"

#include <bit>

#include "base/error.h"
#include "base/offset_allocator.h"
#include "launcher/siblings.h"

namespace trainyard {
namespace {

std::uint64_t shards_of(const ModelMemory::Sizes& sizes) {
  const auto shards = static_cast<std::uint64_t>(sizes.shards);
  TY_CHECK(std::has_single_bit(shards), "the shards of a rank are a power of two");
  return shards;
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

}  // namespace trainyard
