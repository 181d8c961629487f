#include "data/images/image.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trainyard {
namespace {

/// The bytes of an image, of which every reader fills rows of 1 or 3 bytes a pixel.
std::size_t image_bytes(ImageSize size, int channels) {
  constexpr std::int64_t kMostSide = std::int64_t{1} << 30;
  TY_CHECK(channels == 1 || channels == 3, "an image has 1 or 3 channels");
  TY_CHECK(size.h >= 0 && size.w >= 0 && size.h <= kMostSide && size.w <= kMostSide,
           "an image has sides of up to 2^30 pixels");
  return static_cast<std::size_t>(size.pixels() * channels);
}

/// The pixels of an axis that each output pixel is a sum of.
struct Taps {
  struct Pixel {
    std::int64_t first = 0;          // in the image
    std::size_t begin = 0, end = 0;  // its weights
  };
  std::vector<Pixel> pixels;
  std::vector<std::int32_t> weights;  // in units of 2^-22
};

/// For `out` pixels.
Taps taps_of(const ResizeAxis& axis, std::int64_t out) {
  Taps taps;
  for (std::int64_t i = 0; i < out; ++i) {
    Taps::Pixel pixel{.begin = taps.weights.size()};
    axis.each_tap(i, [&](std::int64_t x, std::int32_t weight) {
      if (taps.weights.size() == pixel.begin) pixel.first = x;
      taps.weights.push_back(weight);
    });
    pixel.end = taps.weights.size();
    taps.pixels.push_back(pixel);
  }
  return taps;
}

// The loops over pixels are compiled for the processors that train requires; sums of integers are
// the same for all. Between the two passes a pixel is a number of four bytes.

/// Resizes kRowsTogether rows, whose pixels lie side by side: two rows in a register.
__attribute__((target("arch=x86-64-v3"))) void resize_rows(const std::uint32_t* rows,
                                                           const Taps& taps, std::uint32_t* out) {
  const std::size_t width = taps.pixels.size();
  for (std::size_t x = 0; x < width; ++x) {
    const Taps::Pixel& pixel = taps.pixels[x];
    const auto* from = reinterpret_cast<const __m128i*>(rows + kRowsTogether * pixel.first);
    __m256i upper = _mm256_set1_epi32(ResizeAxis::kHalf), lower = upper;
    for (std::size_t tap = pixel.begin; tap < pixel.end; ++tap, ++from) {
      const __m128i bytes = _mm_loadu_si128(from);
      const __m256i weight = _mm256_set1_epi32(taps.weights[tap]);
      const __m256i low = _mm256_cvtepu8_epi32(_mm_unpackhi_epi64(bytes, bytes));
      upper = _mm256_add_epi32(upper, _mm256_mullo_epi32(_mm256_cvtepu8_epi32(bytes), weight));
      lower = _mm256_add_epi32(lower, _mm256_mullo_epi32(low, weight));
    }
    // Packing limits to 0..255, and puts rows 0 and 2 into the first half, 1 and 3 into the second.
    const __m256i words = _mm256_packus_epi32(_mm256_srai_epi32(upper, ResizeAxis::kFractionBits),
                                              _mm256_srai_epi32(lower, ResizeAxis::kFractionBits));
    const __m256i bytes = _mm256_packus_epi16(words, words);
    out[x] = static_cast<std::uint32_t>(_mm256_extract_epi32(bytes, 0));
    out[width + x] = static_cast<std::uint32_t>(_mm256_extract_epi32(bytes, 4));
    out[2 * width + x] = static_cast<std::uint32_t>(_mm256_extract_epi32(bytes, 1));
    out[3 * width + x] = static_cast<std::uint32_t>(_mm256_extract_epi32(bytes, 5));
  }
}

/// Rows `first` to `first + count` of `width` pixels, each resized; up to three more follow them.
std::vector<std::uint32_t> resized_rows(const GivePixels& give, std::int64_t first,
                                        std::int64_t count, std::int64_t width, const Taps& taps) {
  const std::int64_t groups = (count + kRowsTogether - 1) / kRowsTogether;
  const std::int64_t group_pixels = kRowsTogether * std::ssize(taps.pixels);
  std::vector<std::uint32_t> out(static_cast<std::size_t>(groups * group_pixels));
  std::vector<std::uint32_t> together(static_cast<std::size_t>(kRowsTogether * width));
  for (std::int64_t group = 0; group < groups; ++group) {
    for (std::int64_t row = 0; row < kRowsTogether; ++row) {
      give(first + std::min(group * kRowsTogether + row, count - 1), together.data() + row);
    }
    resize_rows(together.data(), taps, out.data() + group * group_pixels);
  }
  return out;
}

/// Adds a tap of every byte of a row.
__attribute__((target("arch=x86-64-v3"))) void add_row(const std::uint8_t* from,
                                                       std::int32_t weight,
                                                       std::vector<std::int32_t>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += from[i] * weight;
}

/// The bytes of sums.
void pack_sums(const std::vector<std::int32_t>& sums, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(ResizeAxis::byte_of(sums[i]));
  }
}

/// `pixels` are rows of `width`, the original's from `first` on.
void resize_columns(const std::vector<std::uint32_t>& pixels, std::int64_t first,
                    std::int64_t width, const Taps& taps, const TakePixels& take) {
  std::vector<std::int32_t> sums(static_cast<std::size_t>(4 * width));
  std::vector<std::uint32_t> resized(static_cast<std::size_t>(width));
  for (std::size_t y = 0; y < taps.pixels.size(); ++y) {
    const Taps::Pixel& pixel = taps.pixels[y];
    const std::uint32_t* row = pixels.data() + (pixel.first - first) * width;
    std::ranges::fill(sums, ResizeAxis::kHalf);
    for (std::size_t tap = pixel.begin; tap < pixel.end; ++tap, row += width) {
      add_row(reinterpret_cast<const std::uint8_t*>(row), taps.weights[tap], sums);
    }
    pack_sums(sums, reinterpret_cast<std::uint8_t*>(resized.data()));
    take(static_cast<std::int64_t>(y), resized.data());
  }
}

}  // namespace

Image::Image(ImageSize size, int channels)
    : size_(size),
      channels_(channels),
      pixels_(std::make_unique_for_overwrite<std::uint8_t[]>(image_bytes(size, channels))) {}

namespace {

/// A TIFF structure in memory; reading outside it gives 0.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::byte> bytes)
      : bytes_(bytes), big_(!bytes.empty() && bytes[0] == std::byte{'M'}) {}
  [[nodiscard]] std::uint64_t number(std::size_t offset, std::size_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = offset + (big_ ? i : count - 1 - i);
      value = (value << 8) | std::to_integer<std::uint64_t>(bytes_[at]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_;
};

template <class T>
void copy_to(const Image& image, T* planes) {
  const std::int64_t pixels = image.size().pixels();
  const int channels = image.channels();
  const std::uint8_t* from = image.row(0);
  for (int channel = 0; channel < channels; ++channel) {
    T* const plane = planes + channel * pixels;
    for (std::int64_t i = 0; i < pixels; ++i) plane[i] = from[i * channels + channel];
  }
}

}  // namespace

Orientation exif_orientation(std::span<const std::byte> segment) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr std::uint64_t kOrientation = 0x0112, kShort = 3;
  const std::string_view text(reinterpret_cast<const char*>(segment.data()), segment.size());
  if (!text.starts_with(kExif)) return {};
  const TiffReader tiff(segment.subspan(kExif.size()));
  const std::size_t table = tiff.number(4, 4);
  const std::size_t entries = tiff.number(table, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = table + 2 + 12 * i;
    if (tiff.number(entry, 2) != kOrientation || tiff.number(entry + 2, 2) != kShort) continue;
    const auto value = static_cast<int>(tiff.number(entry + 8, 2));
    return {value >= 1 && value <= 8 ? value : 1};
  }
  return {};
}

Image turned(const Image& stored, Orientation orientation) {
  const ImageSize from = stored.size();
  Image upright(orientation.turned(from), stored.channels());
  const ImageSize size = upright.size();
  for (std::int64_t y = 0; y < size.h; ++y) {
    std::uint8_t* to = upright.row(y);
    for (std::int64_t x = 0; x < size.w; ++x) {
      const std::int64_t along = orientation.transposes() ? y : x;
      const std::int64_t down = orientation.transposes() ? x : y;
      const std::int64_t row = orientation.mirrors_stored_rows() ? from.h - 1 - down : down;
      const std::int64_t column = orientation.mirrors_stored_columns() ? from.w - 1 - along : along;
      to = std::copy_n(stored.row(row) + column * stored.channels(), stored.channels(), to);
    }
  }
  return upright;
}

Image grey_of(const Image& colours) {
  Image grey(colours.size(), 1);
  const std::uint8_t* of = colours.row(0);
  std::uint8_t* const to = grey.row(0);
  for (std::int64_t i = 0; i < grey.size().pixels(); ++i, of += 3) {
    to[i] = static_cast<std::uint8_t>((19595U * of[0] + 38470U * of[1] + 7471U * of[2] + 32768U) >>
                                      16U);
  }
  return grey;
}

void copy_planes(const Image& image, std::uint8_t* planes) { copy_to(image, planes); }
void copy_planes(const Image& image, float* planes) { copy_to(image, planes); }

ImageBox whole_box(ImageSize size) {
  return {.bottom = static_cast<double>(size.h), .right = static_cast<double>(size.w)};
}

ImageBox centred_box(ImageSize size, ImageSize to) {
  const auto h = static_cast<double>(size.h), w = static_cast<double>(size.w);
  const double scale = std::min(h / static_cast<double>(to.h), w / static_cast<double>(to.w));
  const double part_h = std::min(scale * static_cast<double>(to.h), h);
  const double part_w = std::min(scale * static_cast<double>(to.w), w);
  const double top = (h - part_h) / 2, left = (w - part_w) / 2;
  return {top, left, top + part_h, left + part_w};
}

Image resized(const Image& image, ImageSize to, ResizeFilter filter, const ImageBox& box) {
  const ImageSize from = image.size();
  const int channels = image.channels();
  const auto axis = [&](double begin, double end, std::int64_t count, std::int64_t out) {
    return ResizeAxis{begin, (end - begin) / static_cast<double>(out), count, filter};
  };
  const auto give = [&](std::int64_t y, std::uint32_t* pixels) {
    const std::uint8_t* const row = image.row(y);
    for (std::int64_t x = 0; x < from.w; ++x) {
      pixels[kRowsTogether * x] =
          channels == 1 ? row[x]
                        : row[3 * x] | static_cast<std::uint32_t>(row[3 * x + 1]) << 8 |
                              static_cast<std::uint32_t>(row[3 * x + 2]) << 16;
    }
  };
  Image out(to, channels);
  const auto take = [&](std::int64_t y, const std::uint32_t* pixels) {
    std::uint8_t* row = out.row(y);
    for (std::int64_t x = 0; x < to.w; ++x) {
      for (int c = 0; c < channels; ++c) *row++ = static_cast<std::uint8_t>(pixels[x] >> (8 * c));
    }
  };
  resize_pixels(give, axis(box.top, box.bottom, from.h, to.h),
                axis(box.left, box.right, from.w, to.w), to, take);
  return out;
}

void resize_pixels(const GivePixels& give, const ResizeAxis& down, const ResizeAxis& along,
                   ImageSize to, const TakePixels& take) {
  const Taps columns = taps_of(down, to.h);
  const Taps::Pixel& last = columns.pixels.back();
  const std::int64_t first = columns.pixels.front().first;
  const std::int64_t end = last.first + static_cast<std::int64_t>(last.end - last.begin);
  const std::vector<std::uint32_t> rows =
      resized_rows(give, first, end - first, along.count, taps_of(along, to.w));
  resize_columns(rows, first, to.w, columns, take);
}

}  // namespace trainyard
