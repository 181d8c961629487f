#include "formats/safetensors.h"

namespace trainyard {

std::string_view safetensors_name(StoredType type) {
  switch (type) {
    case StoredType::f64:
      return "F64";
    case StoredType::f32:
      return "F32";
    case StoredType::f16:
      return "F16";
    case StoredType::bf16:
      return "BF16";
    case StoredType::i64:
      return "I64";
    case StoredType::i32:
      return "I32";
    case StoredType::u8:
      return "U8";
  }
  return "?";
}

std::size_t size_of(StoredType type) {
  switch (type) {
    case StoredType::f64:
    case StoredType::i64:
      return 8;
    case StoredType::f32:
    case StoredType::i32:
      return 4;
    case StoredType::f16:
    case StoredType::bf16:
      return 2;
    case StoredType::u8:
      return 1;
  }
  return 0;
}

StoredType stored_type_of(DType type) {
  switch (type) {
    case DType::f64:
      return StoredType::f64;
    case DType::f32:
      return StoredType::f32;
    case DType::f16:
      return StoredType::f16;
    case DType::bf16:
      return StoredType::bf16;
    case DType::i32:
      return StoredType::i32;
    case DType::u8:
      return StoredType::u8;
  }
  return StoredType::u8;
}

std::optional<DType> dtype_of(StoredType type) {
  switch (type) {
    case StoredType::f64:
      return DType::f64;
    case StoredType::f32:
      return DType::f32;
    case StoredType::f16:
      return DType::f16;
    case StoredType::bf16:
      return DType::bf16;
    case StoredType::i32:
      return DType::i32;
    case StoredType::u8:
      return DType::u8;
    case StoredType::i64:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainyard
