#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "base/error.h"
#include "data/images/decoders.h"

namespace trainyard {

namespace {

// stb_image calls its allocator without context, so the budget has to be ambient: one per thread,
// set for the duration of one call by BudgetScope.
thread_local std::size_t budget_bytes = 0;

constexpr std::size_t kHeader = alignof(std::max_align_t);  // holds the block's size

class BudgetScope {
 public:
  explicit BudgetScope(std::size_t bytes) { budget_bytes = bytes; }
  ~BudgetScope() { budget_bytes = 0; }
  BudgetScope(const BudgetScope&) = delete;
  BudgetScope& operator=(const BudgetScope&) = delete;
};

void* budget_malloc(std::size_t bytes) {
  if (bytes > budget_bytes) return nullptr;
  auto* block = static_cast<std::byte*>(std::malloc(bytes + kHeader));
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof bytes);
  budget_bytes -= bytes;
  return block + kHeader;
}

void budget_free(void* pointer) {
  if (pointer == nullptr) return;
  std::byte* block = static_cast<std::byte*>(pointer) - kHeader;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  budget_bytes += bytes;
  std::free(block);
}

void* budget_realloc(void* pointer, std::size_t old_bytes, std::size_t bytes) {
  void* moved = budget_malloc(bytes);
  if (moved == nullptr) return nullptr;
  if (pointer != nullptr) std::memcpy(moved, pointer, std::min(old_bytes, bytes));
  budget_free(pointer);
  return moved;
}

}  // namespace

}  // namespace trainyard

#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_MAX_DIMENSIONS 16384
#define STBI_MALLOC(bytes) trainyard::budget_malloc(bytes)
#define STBI_FREE(pointer) trainyard::budget_free(pointer)
#define STBI_REALLOC_SIZED(pointer, old_bytes, bytes) \
  trainyard::budget_realloc(pointer, old_bytes, bytes)
#define STBI_REALLOC(pointer, bytes) nullptr
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>

namespace trainyard {

namespace {

const stbi_uc* data_of(const EncodedImage& encoded) {
  return reinterpret_cast<const stbi_uc*>(encoded.bytes.data());
}

int length_of(const EncodedImage& encoded) {
  if (encoded.bytes.size() > std::numeric_limits<int>::max()) {
    bad_file(encoded.name, "is larger than 2 GiB, too large for an image");
  }
  return static_cast<int>(encoded.bytes.size());
}

/// What stb may allocate: the decoded image, its unfiltered form of up to four 16-bit channels in a
/// buffer that doubles, the requested channels, and the compressed data.
std::size_t decode_budget(const EncodedImage& encoded, std::size_t pixels) {
  constexpr std::size_t kBytesAPixel = 48;
  constexpr std::size_t kFixed = 1 << 20;
  return pixels * kBytesAPixel + 4 * encoded.bytes.size() + kFixed;
}

}  // namespace

ImageSize stb_size(const EncodedImage& encoded) {
  const BudgetScope budget(decode_budget(encoded, 0));
  int w = 0;
  int h = 0;
  int channels = 0;
  if (stbi_info_from_memory(data_of(encoded), length_of(encoded), &w, &h, &channels) == 0) {
    // stb tries one format after the other, so its own reason is that of the last one.
    bad_file(
        encoded.name,
        "is not a readable PNG, GIF or BMP file: damaged in its header, or more than 16384 pixels "
        "per side; convert or remove it");
  }
  // The rows of a BMP are stored from top to bottom if its height is negative.
  return {h < 0 ? -std::int64_t{h} : std::int64_t{h}, w};
}

StbPixels stb_pixels(const EncodedImage& encoded, ImageSize size, int channels) {
  const BudgetScope budget(decode_budget(encoded, static_cast<std::size_t>(size.pixels())));
  stbi__g_failure_reason = nullptr;  // stb does not always set one: not that of another image
  int w = 0;
  int h = 0;
  int stored = 0;
  StbPixels decoded(
      stbi_load_from_memory(data_of(encoded), length_of(encoded), &w, &h, &stored, channels),
      stbi_image_free);
  if (decoded == nullptr) {
    const char* const reason = stbi_failure_reason();
    bad_file(encoded.name, "cannot be decoded (" + std::string(reason ? reason : "bad data") +
                               "); it is truncated or damaged");
  }
  TY_CHECK(w == size.w && h == size.h, "stb_image changed its mind on a size");
  return decoded;
}

Image stb_decode(const EncodedImage& encoded, ImageSize size, int channels) {
  int w = 0;
  int h = 0;
  int stored = 0;
  stbi_info_from_memory(data_of(encoded), length_of(encoded), &w, &h, &stored);
  const bool greyed = channels == 1 && stored >= 3;  // stb's own conversion truncates
  Image image(size, greyed ? 3 : channels);
  const StbPixels decoded = stb_pixels(encoded, size, image.channels());
  std::copy_n(decoded.get(), size.pixels() * image.channels(), image.row(0));
  return greyed ? grey_of(image) : std::move(image);
}

}  // namespace trainyard
