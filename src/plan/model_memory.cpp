#include <cstring>

#include "plan/program.h"

namespace trainyard {
namespace {

constexpr std::size_t kAlignment = 256;

/// Hands out aligned offsets.
struct Carver {
  std::size_t used = 0;
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = used;
    used += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
};

}  // namespace

ModelMemory::ModelMemory(Device& device, const BlockLayout& blocks, const Sizes& sizes)
    : sizes_(sizes) {
  const std::size_t element = size_of(sizes.type);
  const std::size_t parameter_bytes = static_cast<std::size_t>(blocks.parameter_elements) * element;
  const std::size_t gradient_bytes = static_cast<std::size_t>(blocks.gradient_elements()) * element;
  Carver carver;
  weights_ = carver.take(parameter_bytes);
  gradients_ = carver.take(gradient_bytes);
  gradient_sum_ = sizes.accumulates ? carver.take(gradient_bytes) : gradients_;
  slot_bytes_ = (parameter_bytes + kAlignment - 1) / kAlignment * kAlignment;
  slots_ = carver.take(slot_bytes_ * static_cast<std::size_t>(sizes.slots));
  running_ = carver.take(static_cast<std::size_t>(blocks.statistic_elements) * element);
  inputs_ = carver.take(sizes.input_bytes);
  state_ = carver.take(sizeof(StepState));
  sample_index_ = carver.take(static_cast<std::size_t>(sizes.batch) * sizeof(std::int64_t));
  buffer_ = device.allocate(carver.used);
  std::memset(buffer_->data(), 0, buffer_->bytes());
  *state() = StepState{};
}

std::byte* ModelMemory::slot(int index) const {
  return at(slots_ + static_cast<std::size_t>(index) * slot_bytes_);
}

}  // namespace trainyard
