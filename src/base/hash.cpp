#include "base/hash.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/read_file.h"

namespace trainyard {

struct Hash128::State {
  XXH3_state_t xxh3;
};

Hash128::Hash128() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh3); }
Hash128::~Hash128() = default;
Hash128::Hash128(Hash128&&) noexcept = default;
Hash128& Hash128::operator=(Hash128&&) noexcept = default;

void Hash128::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh3, bytes.data(), bytes.size());
}

void Hash128::update(std::string_view text) {
  update(std::as_bytes(std::span<const char>(text.data(), text.size())));
}

std::string Hash128::hex() const {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state_->xxh3));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : canonical.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string hash128_hex(std::span<const std::byte> bytes) {
  Hash128 hash;
  hash.update(bytes);
  return hash.hex();
}

std::string hash128_hex(std::string_view text) {
  Hash128 hash;
  hash.update(text);
  return hash.hex();
}

std::string hash128_file_hex(const std::filesystem::path& path, ErrorKind kind) {
  const InputFile file(path, kind);
  Hash128 hash;
  constexpr std::uint64_t kPiece = 1u << 20;
  std::vector<std::byte> piece(std::min(kPiece, file.size()));
  for (std::uint64_t offset = 0; offset < file.size(); offset += kPiece) {
    const std::span<std::byte> part(piece.data(), std::min(kPiece, file.size() - offset));
    file.read(offset, part);
    hash.update(part);
  }
  return hash.hex();
}

}  // namespace trainyard
