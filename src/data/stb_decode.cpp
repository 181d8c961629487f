#include "data/stb_decode.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include "base/error.h"
#include "data/bad_file.h"
#include "data/image_check.h"

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

const stbi_uc* data_of(const EncodedImage& image) {
  return reinterpret_cast<const stbi_uc*>(image.bytes.data());
}

int length_of(const EncodedImage& image) {
  if (image.bytes.size() > std::numeric_limits<int>::max()) {
    bad_file(image.name, "is larger than 2 GiB, too large for a picture");
  }
  return static_cast<int>(image.bytes.size());
}

/// What stb may allocate: the decoded image, its unfiltered form of up to four 16-bit channels in a
/// buffer that doubles, the requested channels, and the compressed data.
std::size_t decode_budget(const EncodedImage& image, std::size_t pixels) {
  constexpr std::size_t kBytesAPixel = 48;
  constexpr std::size_t kFixed = 1 << 20;
  return pixels * kBytesAPixel + 4 * image.bytes.size() + kFixed;
}

/// Luma of ITU-R BT.601 in 16-bit fixed point, rounded: Pillow's conversion to "L". (stb's own
/// truncates.) `colours` are [pixels, 3].
void grey_of(const stbi_uc* colours, std::size_t pixels, std::uint8_t* grey) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const stbi_uc* const of = colours + 3 * i;
    grey[i] = static_cast<std::uint8_t>(
        (19595U * of[0] + 38470U * of[1] + 7471U * of[2] + 32768U) >> 16U);
  }
}

}  // namespace

ImageSize stb_size(const EncodedImage& image) {
  const BudgetScope budget(decode_budget(image, 0));
  int w = 0;
  int h = 0;
  int channels = 0;
  if (stbi_info_from_memory(data_of(image), length_of(image), &w, &h, &channels) == 0) {
    // stb tries one format after the other, so its own reason is that of the last one.
    bad_file(image.name,
             "is not a readable PNG or BMP file: damaged in its header, or more than 16384 pixels "
             "per side; convert or remove it");
  }
  // The rows of a BMP are stored from top to bottom if its height is negative.
  return {h < 0 ? -std::int64_t{h} : std::int64_t{h}, w};
}

Picture stb_decode(const EncodedImage& image, ImageSize size, int channels) {
  check_image(image, size);
  const std::size_t pixels = static_cast<std::size_t>(size.pixels());
  const BudgetScope budget(decode_budget(image, pixels));
  stbi__g_failure_reason = nullptr;  // stb does not always set one: not that of another picture
  int w = 0;
  int h = 0;
  int stored = 0;
  stbi_info_from_memory(data_of(image), length_of(image), &w, &h, &stored);
  const bool greyed = channels == 1 && stored >= 3;
  const std::unique_ptr<stbi_uc, void (*)(void*)> decoded(
      stbi_load_from_memory(data_of(image), length_of(image), &w, &h, &stored,
                            greyed ? 3 : channels),
      stbi_image_free);
  if (decoded == nullptr) {
    const char* const reason = stbi_failure_reason();
    bad_file(image.name, "cannot be decoded (" + std::string(reason ? reason : "bad data") +
                             "); it is truncated or damaged");
  }
  TY_CHECK(w == size.w && h == size.h, "stb_image changed its mind on a size");
  Picture picture(size, channels);
  if (greyed) {
    grey_of(decoded.get(), pixels, picture.row(0));
  } else {
    std::copy_n(decoded.get(), pixels * static_cast<std::size_t>(channels), picture.row(0));
  }
  return picture;
}

}  // namespace trainyard
