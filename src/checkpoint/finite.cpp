#include "checkpoint/finite.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace trainyard {

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
