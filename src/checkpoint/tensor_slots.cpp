#include "checkpoint/tensor_slots.h"

#include "base/error.h"

namespace trainyard {
namespace {

TensorSlot slot_in(std::byte* block, const BlockEntry& entry, DType type,
                   const std::string& prefix) {
  const std::size_t element = size_of(type);
  return {.name = prefix + entry.name,
          .shape = entry.shape,
          .data = block + entry.offset * static_cast<std::int64_t>(element),
          .bytes = static_cast<std::size_t>(entry.shape.elements()) * element};
}

}  // namespace

std::vector<TensorSlot> weight_slots(const Model& model, const WeightBlocks& copy) {
  std::vector<TensorSlot> slots;
  const ModelMemory& memory = model.memory();
  for (const BlockEntry& entry : model.blocks().parameters) {
    slots.push_back(slot_in(copy.weights, entry, memory.type(), ""));
  }
  for (const BlockEntry& entry : model.blocks().statistics) {
    slots.push_back(slot_in(copy.running, entry, memory.type(), ""));
  }
  return slots;
}

std::vector<TensorSlot> optimizer_slots(Model& model, const Optimizer& usual,
                                        const ParameterRules& rules) {
  std::vector<TensorSlot> slots;
  const ModelMemory& memory = model.memory();
  for (int i = 0; i < memory.slots(); ++i) {
    for (const BlockEntry& entry : model.blocks().parameters) {
      const Optimizer& own = optimizer_of(entry.name, usual, rules);
      if (static_cast<std::size_t>(i) >= own.slots.size()) continue;
      const std::string prefix = own.slots[static_cast<std::size_t>(i)].name + ".";
      slots.push_back(slot_in(memory.slot(i), entry, memory.type(), prefix));
    }
  }
  return slots;
}

std::vector<std::int64_t> extents(const Shape& shape) {
  std::vector<std::int64_t> list;
  for (int axis = 0; axis < shape.rank(); ++axis) list.push_back(shape[axis]);
  return list;
}

std::string shape_fault(const TensorSlot& slot, const NamedTensor& tensor) {
  if (tensor.shape == extents(slot.shape)) return "";
  std::string found = "[";
  for (const std::int64_t extent : tensor.shape) {
    found += (found.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return slot.name + ": has shape " + found + "], expected " + slot.shape.text();
}

void raise_misfits(const std::vector<std::string>& faults, const std::string& where,
                   const std::string& advice) {
  if (faults.empty()) return;
  constexpr std::size_t kShown = 10;
  std::string message = where + " does not fit the model:";
  for (std::size_t i = 0; i < faults.size() && i < kShown; ++i) message += "\n  " + faults[i];
  if (faults.size() > kShown) {
    message += "\n  and " + std::to_string(faults.size() - kShown) + " more";
  }
  throw Error(ErrorKind::checkpoint, message + advice);
}

}  // namespace trainyard
