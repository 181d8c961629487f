#include "checkpoint/tensor_slots.h"

#include <cmath>
#include <cstring>

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
                                        const ParameterOverrides& overrides) {
  std::vector<TensorSlot> slots;
  const ModelMemory& memory = model.memory();
  for (int i = 0; i < memory.slots(); ++i) {
    for (const BlockEntry& entry : model.blocks().parameters) {
      const Optimizer& own = optimizer_of(entry.name, usual, overrides);
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
  throw checkpoint_error(message + advice);
}

namespace {

/// IEEE 754: a number is not finite if all bits of its exponent are set; the fraction distinguishes
/// nan from infinity.
template <class Word>
struct Bits {
  Word exponent;
  Word fraction;
};

template <class Word>
std::optional<std::string> first_non_finite(const NamedTensor& tensor, Bits<Word> bits) {
  const std::size_t count = tensor.bytes.size() / sizeof(Word);
  for (std::size_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, tensor.bytes.data() + i * sizeof(Word), sizeof(Word));
    if ((word & bits.exponent) != bits.exponent) continue;
    const bool negative = (word & ~(bits.exponent | bits.fraction)) != 0;
    const char* name = (word & bits.fraction) != 0 ? "nan" : negative ? "-inf" : "inf";
    return name + std::string(" at element ") + std::to_string(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> non_finite_element(const NamedTensor& tensor) {
  switch (tensor.type) {
    case StoredType::f64:
      return first_non_finite<std::uint64_t>(tensor, {0x7ff0000000000000u, 0x000fffffffffffffu});
    case StoredType::f32:
      return first_non_finite<std::uint32_t>(tensor, {0x7f800000u, 0x007fffffu});
    case StoredType::f16:
      return first_non_finite<std::uint16_t>(tensor, {0x7c00u, 0x03ffu});
    case StoredType::bf16:
      return first_non_finite<std::uint16_t>(tensor, {0x7f80u, 0x007fu});
    case StoredType::i64:
    case StoredType::i32:
    case StoredType::u8:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::string> non_finite_number(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return "";
  if (!value.is_structured()) return std::nullopt;
  for (const auto& [key, item] : value.items()) {
    if (const auto inner = non_finite_number(item)) return "/" + key + *inner;
  }
  return std::nullopt;
}

}  // namespace trainyard
