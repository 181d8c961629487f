#include "checkpoint/tensor_slots.h"

#include "base/error.h"

namespace trainyard {
namespace {

TensorSlot place_in(std::byte* block, const BlockEntry& entry, DType type,
                    const std::string& prefix) {
  const std::size_t element = size_of(type);
  return {.name = prefix + entry.name,
          .shape = entry.shape,
          .data = block + entry.offset * static_cast<std::int64_t>(element),
          .bytes = static_cast<std::size_t>(entry.shape.elements()) * element};
}

}  // namespace

std::vector<TensorSlot> weight_slots(Model& model) {
  std::vector<TensorSlot> places;
  const ModelMemory& memory = model.memory();
  for (const BlockEntry& entry : model.blocks().parameters) {
    places.push_back(place_in(memory.weights(), entry, memory.type(), ""));
  }
  for (const BlockEntry& entry : model.blocks().statistics) {
    places.push_back(place_in(memory.running(), entry, memory.type(), ""));
  }
  return places;
}

std::vector<TensorSlot> optimizer_slots(Model& model, const Optimizer& optimizer) {
  std::vector<TensorSlot> places;
  const ModelMemory& memory = model.memory();
  const std::vector<std::string> slots = optimizer.slots();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    for (const BlockEntry& entry : model.blocks().parameters) {
      places.push_back(
          place_in(memory.slot(static_cast<int>(slot)), entry, memory.type(), slots[slot] + "."));
    }
  }
  return places;
}

std::vector<std::int64_t> extents(const Shape& shape) {
  std::vector<std::int64_t> list;
  for (int axis = 0; axis < shape.rank(); ++axis) list.push_back(shape[axis]);
  return list;
}

std::string shape_fault(const TensorSlot& place, const NamedTensor& tensor) {
  if (tensor.shape == extents(place.shape)) return "";
  std::string found = "[";
  for (const std::int64_t extent : tensor.shape) {
    found += (found.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return place.name + ": has shape " + found + "], wants " + place.shape.text();
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
