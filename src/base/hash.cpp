#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/read_file.h"

namespace trainyard {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2).
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::array<std::uint32_t, 64> schedule_of(const std::byte* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      w[i] = (w[i] << 8) | std::to_integer<std::uint32_t>(block[4 * i + j]);
    }
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3);
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10);
    w[i] = w[i - 16] + sigma0 + w[i - 7] + sigma1;
  }
  return w;
}

}  // namespace

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

std::string hash128_file_hex(const fs::path& path, ErrorKind kind) {
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

void Sha256::take_block(const std::byte* block) {
  const std::array<std::uint32_t, 64> w = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRoundConstants[i] + w[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < added.size(); ++i) state_[i] += added[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  std::size_t filled = bytes_ % block_.size();
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), block_.size() - filled);
    std::copy_n(bytes.data(), count, block_.data() + filled);
    bytes = bytes.subspan(count);
    filled += count;
    if (filled < block_.size()) return;
    take_block(block_.data());
    filled = 0;
  }
}

std::string Sha256::hex() {
  const std::uint64_t bits = 8 * bytes_;
  // A one bit, zeros to 8 bytes below a whole block, and the number of bits (5.1.1).
  std::vector<std::byte> padding(1 + (119 - bytes_ % 64) % 64, std::byte{0});
  padding.front() = std::byte{0x80};
  for (int shift = 56; shift >= 0; shift -= 8) {
    padding.push_back(static_cast<std::byte>(bits >> shift & 0xff));
  }
  update(padding);
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 15];
  }
  return text;
}

std::string sha256_file_hex(const fs::path& path, ErrorKind kind) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> piece(1u << 20);
  Sha256 hash;
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hash.update(std::as_bytes(std::span(piece)).first(static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) {
    throw Error(kind,
                "cannot read '" + path.string() + "': " + std::generic_category().message(errno));
  }
  return hash.hex();
}

}  // namespace trainyard
