#include <bit>

#include "base/carver.h"
#include "base/error.h"
#include "plan/program.h"

namespace trainyard {
namespace {

std::uint64_t shards_of(const ModelMemory::Sizes& sizes) {
  const auto shards = static_cast<std::uint64_t>(sizes.shards);
  TY_CHECK(std::has_single_bit(shards), "the shards of a rank are a power of two");
  return shards;
}

}  // namespace

ModelMemory::Places ModelMemory::places(const BlockLayout& blocks, const Sizes& sizes) {
  const std::size_t element = size_of(sizes.type);
  const std::size_t parameter_bytes = static_cast<std::size_t>(blocks.parameter_elements) * element;
  const std::size_t gradient_bytes = static_cast<std::size_t>(blocks.gradient_elements()) * element;
  Carver carver;
  Places places;
  places.weights = carver.take(parameter_bytes);
  places.gradients = carver.take(gradient_bytes);
  places.gradient_bytes = carver.used() - places.gradients;
  const auto levels = static_cast<std::size_t>(std::countr_zero(shards_of(sizes)));
  places.shard_sums = carver.take(places.gradient_bytes * levels);
  places.gradient_sum = sizes.accumulates ? carver.take(gradient_bytes)
                        : levels > 0      ? places.shard_sums
                                          : places.gradients;
  places.slot_bytes = aligned_bytes(parameter_bytes);
  places.slots = carver.take(places.slot_bytes * static_cast<std::size_t>(sizes.slots));
  places.running = carver.take(static_cast<std::size_t>(blocks.statistic_elements) * element);
  places.inputs = carver.take(sizes.input_bytes);
  places.staging = carver.take(sizes.staging_bytes);
  places.state = carver.take(sizeof(StepState));
  places.sample_index = carver.take(static_cast<std::size_t>(sizes.batch) * sizeof(std::int64_t));
  places.results = carver.take(static_cast<std::size_t>(sizes.results) * sizeof(double));
  places.bytes = carver.used();
  return places;
}

ModelMemory::ModelMemory(Device& device, Queue& queue, const BlockLayout& blocks,
                         const Sizes& sizes)
    : sizes_(sizes), places_(places(blocks, sizes)), buffer_(device.allocate(places_.bytes)) {
  queue.fill(buffer_->data(), std::byte{0}, buffer_->bytes());
  const StepState initial;
  queue.copy_from_host(state(), &initial, sizeof initial);
}

std::byte* ModelMemory::slot(int index) const {
  return at(places_.slots + static_cast<std::size_t>(index) * places_.slot_bytes);
}

}  // namespace trainyard
