#include "data/sets/pack_layout.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "base/offset_allocator.h"
#include "formats/json.h"

namespace trainyard {

namespace {

constexpr std::string_view kPackTitle = "trainyard pack 1";
constexpr std::size_t kLengthDigits = 16, kHashDigits = 32;
constexpr std::size_t kEndBytes = kPackTitle.size() + kLengthDigits + kHashDigits;
constexpr std::size_t kLabelAlignment = 64;

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The JSON text before the end of the file.
std::string_view header_text(std::string_view file, const std::string& name) {
  if (file.size() < kEndBytes || !file.substr(file.size() - kEndBytes).starts_with(kPackTitle)) {
    bad_file(name,
             "is not a pack of this version, or is truncated: it does not end as one; make "
             "it again with 'train data pack'");
  }
  const std::string_view end = file.substr(file.size() - kEndBytes);
  const std::string_view digits = end.substr(kPackTitle.size(), kLengthDigits);
  std::uint64_t bytes = 0;
  const auto [rest, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), bytes, 16);
  if (status != std::errc{} || rest != digits.data() + digits.size() ||
      bytes > file.size() - kEndBytes) {
    bad_file(name, "is damaged: its header is longer than the file");
  }
  const std::string_view header = file.substr(file.size() - kEndBytes - bytes, bytes);
  if (end.substr(kPackTitle.size() + kLengthDigits) != hash128_hex(header)) {
    bad_file(name, "is damaged: its header does not match its hash");
  }
  return header;
}

PackHeader header_in(const Json& json) {
  PackHeader header;
  std::vector<std::int64_t> image;
  for (const Json& extent : json.at("image")) image.push_back(integer_of(extent));
  if (image.size() == 3) header.image = Shape{image[0], image[1], image[2]};
  header.samples = integer_of(json.at("samples"));
  header.classes = integer_of(json.at("classes"));
  header.class_names = json.at("class_names").get<std::vector<std::string>>();
  header.block = integer_of(json.at("block"));
  const auto hashes = json.at("hashes").get<std::string>();
  for (std::size_t at = 0; at < hashes.size(); at += kHashDigits) {
    header.hashes.push_back(hashes.substr(at, kHashDigits));
  }
  header.labels_hash = json.at("labels_hash").get<std::string>();
  return header;
}

/// "" if the numbers of a header are possible in a file of `bytes`, so that none of their products
/// overflows.
std::string fault_of(const PackHeader& header, std::size_t bytes) {
  constexpr std::int64_t kMostSide = 1 << 20, kMostElements = std::int64_t{1} << 32;
  if (header.image.rank() != 3) return "its image has no three extents";
  for (int i = 0; i < 3; ++i) {
    if (header.image[i] < 1 || header.image[i] > kMostSide) return "its image has a wrong extent";
  }
  const std::int64_t elements = header.image[0] * header.image[1] * header.image[2];
  if (elements > kMostElements) return "its image is too large";
  const std::size_t each = static_cast<std::size_t>(elements) + sizeof(std::int32_t);
  if (header.samples < 1 || static_cast<std::size_t>(header.samples) > bytes / each) {
    return "its number of samples is wrong";
  }
  if (header.block < 1 || header.block > header.samples) return "its block is wrong";
  if (header.classes < 1 || header.classes > std::numeric_limits<std::int32_t>::max()) {
    return "its number of classes is wrong";
  }
  if (!header.class_names.empty() && std::ssize(header.class_names) != header.classes) {
    return "its classes and their names differ in number";
  }
  if (std::ssize(header.hashes) != header.blocks()) return "it lacks hashes";
  return "";
}

}  // namespace

std::size_t PackHeader::labels_at() const { return round_up(image_bytes(), kLabelAlignment); }

std::string pack_tail(const PackHeader& header) {
  std::string hashes;
  for (const std::string& hash : header.hashes) hashes += hash;
  const std::string text =
      json_text({{"image", {header.image[0], header.image[1], header.image[2]}},
                 {"samples", header.samples},
                 {"classes", header.classes},
                 {"class_names", header.class_names},
                 {"block", header.block},
                 {"labels_hash", header.labels_hash},
                 {"hashes", hashes}});
  char digits[kLengthDigits + 1];
  std::snprintf(digits, sizeof digits, "%016zx", text.size());
  return text + std::string(kPackTitle) + digits + hash128_hex(text);
}

PackHeader pack_header(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text = header_text(text_of(file), name);
  PackHeader header;
  try {
    header = header_in(parse_json(text, {.name = name}));
  } catch (const Json::exception& error) {
    bad_file(name, "is damaged: its header lacks a value or has one of another type (" +
                       std::string(error.what()) + ")");
  }
  const std::string fault = fault_of(header, file.size());
  if (!fault.empty()) bad_file(name, "is damaged: " + fault);
  const std::size_t expected = header.header_at() + text.size() + kEndBytes;
  if (file.size() != expected) {
    bad_file(name, "has " + std::to_string(file.size()) + " bytes, but its header describes " +
                       std::to_string(expected) + "; it is damaged, make it again");
  }
  return header;
}

}  // namespace trainyard
