#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "formats/json.h"

namespace trainyard {
namespace {

static_assert(std::endian::native == std::endian::little, "data are read without byte swapping");

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100000000;
/// Header (object), tensor (object), list: 3; one more to report errors.
constexpr JsonLimits kHeaderLimits = {.depth = 4, .values = 2000000};

struct Source {
  const std::string& name;
  ErrorKind kind;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(kind, name + ": not a usable safetensors file: " + what);
  }
  /// `head` is not a safetensors header: reports its kind if known, else `what`.
  [[noreturn]] void fail_as(std::span<const std::byte> head, const std::string& what) const {
    const std::string found = file_kind(head);
    if (found.empty()) fail(what);
    throw Error(kind, name + ": expected a safetensors file, found " + found);
  }
};

/// A tensor as described by the header; [begin, end) are bytes of the data area.
struct Entry {
  std::string name;
  StoredType type = StoredType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  // in the order of their data
  SafetensorsMetadata metadata;
};

/// Length of the header of a file of `file_bytes` that begins with `head`.
std::uint64_t header_bytes(std::span<const std::byte> head, std::uint64_t file_bytes,
                           const Source& source) {
  if (head.empty()) source.fail("it is empty");
  if (head.size() < kLengthBytes) source.fail_as(head, "it is shorter than 8 bytes");
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  if (length > kMaxHeaderBytes || length > file_bytes - kLengthBytes) {
    source.fail_as(head, "its header claims " + std::to_string(length) + " bytes, the file holds " +
                             std::to_string(file_bytes) + " and at most " +
                             std::to_string(kMaxHeaderBytes) + " are read");
  }
  return length;
}

StoredType read_type(const Json& value, const std::string& tensor, const Source& source) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  for (const StoredType type : {StoredType::f64, StoredType::f32, StoredType::f16, StoredType::bf16,
                                StoredType::i64, StoredType::i32, StoredType::u8}) {
    if (text == safetensors_name(type)) return type;
  }
  source.fail("tensor '" + tensor + "' has dtype '" + text +
              "'; supported are F64, F32, F16, BF16, I64, I32 and U8");
}

std::uint64_t read_count(const Json& value, const std::string& tensor, const Source& source) {
  // nlohmann stores non-negative integers as unsigned; half of the range leaves room for sums.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (std::uint64_t{1} << 62)) {
    source.fail("tensor '" + tensor + "' has " + value.dump() +
                " where a count of 0 or more is expected");
  }
  return value.get<std::uint64_t>();
}

const Json& member(const Json& object, const char* key, const std::string& tensor,
                   const Source& source) {
  const auto found = object.find(key);
  if (found == object.end()) source.fail("tensor '" + tensor + "' has no '" + key + "'");
  return *found;
}

void check_size(const Entry& entry, const Source& source) {
  std::uint64_t bytes = size_of(entry.type);
  for (const std::int64_t extent : entry.shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      source.fail("tensor '" + entry.name + "' has a shape of more than 2^64 bytes");
    }
  }
  if (entry.end < entry.begin || entry.end - entry.begin != bytes) {
    source.fail("tensor '" + entry.name + "' needs " + std::to_string(bytes) +
                " bytes by shape and dtype, its data_offsets are [" + std::to_string(entry.begin) +
                ", " + std::to_string(entry.end) + ")");
  }
}

Entry read_entry(const std::string& name, const Json& value, const Source& source) {
  if (!value.is_object()) source.fail("tensor '" + name + "' is not an object");
  if (value.size() != 3)
    source.fail("tensor '" + name + "' has keys other than dtype, shape and data_offsets");
  Entry entry;
  entry.name = name;
  entry.type = read_type(member(value, "dtype", name, source), name, source);
  const Json& shape = member(value, "shape", name, source);
  const Json& offsets = member(value, "data_offsets", name, source);
  if (!shape.is_array()) source.fail("tensor '" + name + "' has a shape that is not a list");
  for (const Json& extent : shape) {
    entry.shape.push_back(static_cast<std::int64_t>(read_count(extent, name, source)));
  }
  if (!offsets.is_array() || offsets.size() != 2) {
    source.fail("tensor '" + name + "' has data_offsets that are not a pair");
  }
  entry.begin = read_count(offsets[0], name, source);
  entry.end = read_count(offsets[1], name, source);
  check_size(entry, source);
  return entry;
}

SafetensorsMetadata read_metadata(const Json& value, const Source& source) {
  if (!value.is_object()) source.fail("'__metadata__' is not an object");
  SafetensorsMetadata metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) source.fail("'__metadata__' has '" + key + "' that is not text");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

/// Checks for no holes, no overlap and no bytes after the last tensor.
void check_cover(const std::vector<Entry>& entries, std::uint64_t data_bytes,
                 const Source& source) {
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != at) {
      source.fail("tensor '" + entry.name + "' begins at byte " + std::to_string(entry.begin) +
                  " of the data, " + std::to_string(at) + " was expected (no holes, no overlap)");
    }
    at = entry.end;
  }
  if (at != data_bytes) {
    source.fail("its tensors take " + std::to_string(at) + " bytes of data, it holds " +
                std::to_string(data_bytes));
  }
}

Header read_header(std::string_view text, std::uint64_t data_bytes, const Source& source) {
  if (text.empty() || text.front() != '{') source.fail("its header does not begin with '{'");
  const Json json = parse_json(text, {source.name, source.kind}, kHeaderLimits);
  Header header;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") {
      header.metadata = read_metadata(value, source);
    } else {
      header.entries.push_back(read_entry(name, value, source));
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  check_cover(header.entries, data_bytes, source);
  return header;
}

Header read_header(std::span<const std::byte> head, std::uint64_t file_bytes,
                   const Source& source) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return read_header(text, file_bytes - kLengthBytes - head.size(), source);
}

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

SafetensorsFile SafetensorsFile::open(const fs::path& path, ErrorKind kind) {
  const std::string name = path.string();
  const Source source{name, kind};
  const InputFile file(path, kind);
  std::vector<std::byte> begin(std::min<std::uint64_t>(file.size(), kFileKindBytes));
  file.read(0, begin);
  std::vector<std::byte> head(header_bytes(begin, file.size(), source));
  file.read(kLengthBytes, head);
  (void)read_header(head, file.size(), source);
  std::vector<std::byte> bytes(file.size());
  file.read(0, bytes);
  return parse(std::move(bytes), name, kind);
}

SafetensorsFile SafetensorsFile::parse(std::vector<std::byte> bytes, std::string source_name,
                                       ErrorKind kind) {
  const Source source{source_name, kind};
  const std::span<const std::byte> all(bytes);
  const std::uint64_t length =
      header_bytes(all.first(std::min(all.size(), kFileKindBytes)), bytes.size(), source);
  Header header = read_header(all.subspan(kLengthBytes, length), bytes.size(), source);
  const std::span<const std::byte> data = all.subspan(kLengthBytes + length);

  SafetensorsFile file;
  for (Entry& entry : header.entries) {
    file.index_.emplace(entry.name, file.tensors_.size());
    file.tensors_.push_back({std::move(entry.name), entry.type, std::move(entry.shape),
                             data.subspan(entry.begin, entry.end - entry.begin)});
  }
  file.metadata_ = std::move(header.metadata);
  file.bytes_ = std::move(bytes);  // the spans stay valid: a moved vector keeps its memory
  file.source_ = std::move(source_name);
  file.kind_ = kind;
  return file;
}

const NamedTensor* SafetensorsFile::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &tensors_[found->second];
}

const NamedTensor& SafetensorsFile::at(std::string_view name) const {
  if (const NamedTensor* tensor = find(name)) return *tensor;
  std::string names;
  constexpr std::size_t kNamesShown = 8;
  for (std::size_t i = 0; i < std::min(tensors_.size(), kNamesShown); ++i) {
    names += (i == 0 ? "'" : ", '") + tensors_[i].name + "'";
  }
  if (tensors_.size() > kNamesShown)
    names += " and " + std::to_string(tensors_.size() - kNamesShown) + " more";
  throw Error(kind_, source_ + ": no tensor '" + std::string(name) + "'; it holds " +
                         (names.empty() ? "none" : names));
}

std::string_view safetensors_name(StoredType type) { return facts_of(type).name; }
std::size_t size_of(StoredType type) { return facts_of(type).bytes; }

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
