// The element types of a file, and writing one.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/error.h"
#include "formats/json.h"
#include "formats/safetensors.h"

namespace trainyard {

namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t bytes;  // bytes of one element
  std::optional<DType> computed_in;
};

/// In the order of StoredType.
constexpr std::array<TypeFacts, 7> kTypes = {{{"F64", 8, DType::f64},
                                              {"F32", 4, DType::f32},
                                              {"F16", 2, DType::f16},
                                              {"BF16", 2, DType::bf16},
                                              {"I64", 8, std::nullopt},
                                              {"I32", 4, DType::i32},
                                              {"U8", 1, DType::u8}}};
static_assert(kTypes.size() == static_cast<std::size_t>(StoredType::u8) + 1);

const TypeFacts& facts_of(StoredType type) { return kTypes.at(static_cast<std::size_t>(type)); }

void check_tensor(const NamedTensor& tensor) {
  std::uint64_t bytes = size_of(tensor.type);
  bool fits = true;
  for (const std::int64_t extent : tensor.shape) {
    fits = fits && extent >= 0 &&
           !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  }
  TY_CHECK(fits && bytes == tensor.bytes.size(),
           "tensor '" + tensor.name + "' does not hold the bytes of its shape");
  TY_CHECK(tensor.name != "__metadata__", "'__metadata__' is not a valid tensor name");
}

std::vector<const NamedTensor*> in_file_order(std::span<const NamedTensor> tensors) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& tensor : tensors) order.push_back(&tensor);
  std::sort(order.begin(), order.end(), [](const NamedTensor* a, const NamedTensor* b) {
    const std::size_t size_a = size_of(a->type);
    const std::size_t size_b = size_of(b->type);
    return size_a != size_b ? size_a > size_b : a->name < b->name;
  });
  return order;
}

std::string header_text(const std::vector<const NamedTensor*>& order,
                        const SafetensorsMetadata& metadata) {
  // Joined by hand: an ordered Json of many tensors would search linearly for every key.
  std::string text = "{";
  if (!metadata.empty()) text += "\"__metadata__\":" + Json(metadata).dump();
  std::uint64_t at = 0;
  for (const NamedTensor* tensor : order) {
    const std::uint64_t end = at + tensor->bytes.size();
    const Json entry = {{"dtype", std::string(safetensors_name(tensor->type))},
                        {"shape", tensor->shape},
                        {"data_offsets", {at, end}}};
    if (text.size() > 1) text += ",";
    text += Json(tensor->name).dump() + ":" + entry.dump();
    at = end;
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

std::string_view safetensors_name(StoredType type) { return facts_of(type).name; }
std::size_t size_of(StoredType type) { return facts_of(type).bytes; }
std::optional<DType> dtype_of(StoredType type) { return facts_of(type).computed_in; }

StoredType stored_type_of(DType type) {
  const auto* const found =
      std::ranges::find(kTypes, std::optional<DType>(type), &TypeFacts::computed_in);
  return static_cast<StoredType>(found - kTypes.begin());
}

std::uint64_t SafetensorsImage::size() const {
  std::uint64_t bytes = head.size();
  for (const auto& part : data) bytes += part.size();
  return bytes;
}

std::vector<std::span<const std::byte>> SafetensorsImage::parts() const {
  std::vector<std::span<const std::byte>> parts = {
      std::as_bytes(std::span<const char>(head.data(), head.size()))};
  parts.insert(parts.end(), data.begin(), data.end());
  return parts;
}

SafetensorsImage encode_safetensors(std::span<const NamedTensor> tensors,
                                    const SafetensorsMetadata& metadata) {
  const std::vector<const NamedTensor*> order = in_file_order(tensors);
  std::set<std::string_view> names;
  for (const NamedTensor& tensor : tensors) {
    check_tensor(tensor);
    TY_CHECK(names.insert(tensor.name).second, "two tensors are named '" + tensor.name + "'");
  }
  const std::string header = header_text(order, metadata);
  const std::uint64_t length = header.size();
  SafetensorsImage image;
  image.head.resize(sizeof length);
  std::memcpy(image.head.data(), &length, sizeof length);
  image.head += header;
  for (const NamedTensor* tensor : order) image.data.push_back(tensor->bytes);
  return image;
}

}  // namespace trainyard
