// The layout of a pack: a file of 8-bit samples of one shape, read without decoding.
//
// images  [samples, c, h, w] bytes, in blocks of `block` samples, the last of which may be shorter
// zeros   up to a multiple of 64 bytes
// labels  [samples] int32, little-endian
// header  JSON: what PackHeader holds
// end     64 characters: "trainyard pack 1", the header's bytes as 16 hexadecimal digits, the
//         XXH3-128 of the header
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/shape.h"

namespace trainyard {

struct PackHeader {
  Shape image;  // [c, h, w]
  std::int64_t samples = 0;
  std::int64_t classes = 0;
  std::vector<std::string> class_names;
  std::int64_t block = 0;           // samples
  std::vector<std::string> hashes;  // XXH3-128 of each block
  std::string labels_hash;          // and of the labels

  [[nodiscard]] std::int64_t blocks() const { return (samples + block - 1) / block; }
  [[nodiscard]] std::size_t image_bytes() const {
    return static_cast<std::size_t>(samples * image.elements());
  }
  [[nodiscard]] std::size_t labels_at() const;
  [[nodiscard]] std::size_t header_at() const {
    return labels_at() + static_cast<std::size_t>(samples) * sizeof(std::int32_t);
  }
};

/// Header and end.
[[nodiscard]] std::string pack_tail(const PackHeader& header);

/// The header of a pack in memory, whose sizes fit the file. `name` is the file's, for messages.
/// Looks at neither images nor labels. Throws Error{data}: truncated, damaged, another version.
[[nodiscard]] PackHeader pack_header(std::span<const std::byte> file, const std::string& name);

}  // namespace trainyard
