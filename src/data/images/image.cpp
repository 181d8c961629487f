#include "data/images/image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
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

// The loops over pixels are compiled for the processors that train requires; sums of integers are
// the same for all.
constexpr int kFractionBits = 22;

struct FilterShape {
  double support;  // it is 0 at this distance and beyond
  double (*value)(double x);
};

double box_value(double x) { return x > -0.5 && x <= 0.5 ? 1 : 0; }

double bilinear_value(double x) { return std::max(1 - std::abs(x), 0.0); }

/// Keys' cubic with a = -0.5.
double bicubic_value(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double lanczos_value(double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0; }

FilterShape shape_of(ResizeFilter filter) {
  switch (filter) {
    case ResizeFilter::box:
      return {0.5, box_value};
    case ResizeFilter::bilinear:
      return {1, bilinear_value};
    case ResizeFilter::bicubic:
      return {2, bicubic_value};
    case ResizeFilter::lanczos:
      return {3, lanczos_value};
  }
  return {};
}

/// The pixels of one axis that an output pixel is a sum of.
struct Taps {
  std::int64_t first = 0;
  std::vector<std::int32_t> weights;  // in units of 2^-22
};

std::vector<std::int32_t> fixed_point(const std::vector<double>& weights, double sum) {
  std::vector<std::int32_t> fixed;
  for (double weight : weights) {
    if (sum != 0) weight /= sum;
    const double scaled = weight * (1 << kFractionBits);
    fixed.push_back(static_cast<std::int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5));
  }
  return fixed;
}

/// For each of `out` pixels of an axis of `in` pixels, of which [begin, end) is resized.
std::vector<Taps> taps_of(std::int64_t in, double begin, double end, std::int64_t out,
                          const FilterShape& filter) {
  const double scale = (end - begin) / static_cast<double>(out);
  const double stretch = std::max(scale, 1.0), support = filter.support * stretch;
  std::vector<Taps> all(static_cast<std::size_t>(out));
  for (std::int64_t i = 0; i < out; ++i) {
    const double center = begin + (static_cast<double>(i) + 0.5) * scale;
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = std::max<std::int64_t>(static_cast<std::int64_t>(center - support + 0.5), 0);
    const std::int64_t last = std::min(static_cast<std::int64_t>(center + support + 0.5), in);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t x = taps.first; x < last; ++x) {
      weights.push_back(filter.value((static_cast<double>(x) - center + 0.5) * (1 / stretch)));
      sum += weights.back();
    }
    taps.weights = fixed_point(weights, sum);
  }
  return all;
}

std::uint8_t rounded(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

/// A row of pixels of `channels` bytes as pixels of four, of which four lanes are computed at once.
void widen(const std::uint8_t* row, std::int64_t pixels, int channels, std::uint8_t* wide) {
  if (channels == 1) {
    for (std::int64_t x = 0; x < pixels; ++x) wide[4 * x] = row[x];
    return;
  }
  for (std::int64_t x = 0; x < pixels; ++x) {
    for (int c = 0; c < 3; ++c) wide[4 * x + c] = row[3 * x + c];
  }
}

__attribute__((target("arch=x86-64-v3"))) void resize_row(const std::uint8_t* wide,
                                                          const std::vector<Taps>& all,
                                                          int channels, std::uint8_t* out) {
  for (const Taps& taps : all) {
    const std::uint8_t* from = wide + 4 * taps.first;
    std::array<std::int32_t, 4> sums;
    sums.fill(1 << (kFractionBits - 1));
    for (const std::int32_t weight : taps.weights) {
      for (std::size_t c = 0; c < 4; ++c) sums[c] += from[c] * weight;
      from += 4;
    }
    for (int c = 0; c < channels; ++c) *out++ = rounded(sums[static_cast<std::size_t>(c)]);
  }
}

/// Rows `first` to `first + rows` of the image, each resized.
Image resized_rows(const Image& image, std::int64_t first, std::int64_t rows,
                   const std::vector<Taps>& taps) {
  const int channels = image.channels();
  Image out({rows, std::ssize(taps)}, channels);
  std::vector<std::uint8_t> wide(static_cast<std::size_t>(4 * image.size().w));
  for (std::int64_t y = 0; y < rows; ++y) {
    widen(image.row(first + y), image.size().w, channels, wide.data());
    resize_row(wide.data(), taps, channels, out.row(y));
  }
  return out;
}

/// Adds a tap of every value of a row.
__attribute__((target("arch=x86-64-v3"))) void add_row(const std::uint8_t* from,
                                                       std::int32_t weight,
                                                       std::vector<std::int32_t>& sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += from[i] * weight;
}

/// `image` has the rows of the original from `first` on.
Image resized_columns(const Image& image, std::int64_t first, const std::vector<Taps>& all) {
  const std::int64_t width = image.size().w;
  Image out({std::ssize(all), width}, image.channels());
  std::vector<std::int32_t> sums(static_cast<std::size_t>(width * image.channels()));
  for (std::int64_t y = 0; y < std::ssize(all); ++y) {
    const Taps& taps = all[static_cast<std::size_t>(y)];
    std::ranges::fill(sums, 1 << (kFractionBits - 1));
    for (std::size_t tap = 0; tap < taps.weights.size(); ++tap) {
      const std::uint8_t* from = image.row(taps.first - first + static_cast<std::int64_t>(tap));
      add_row(from, taps.weights[tap], sums);
    }
    std::ranges::transform(sums, out.row(y), rounded);
  }
  return out;
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
  const FilterShape shape = shape_of(filter);
  const ImageSize from = image.size();
  const std::vector<Taps> rows = taps_of(from.h, box.top, box.bottom, to.h, shape);
  const std::vector<Taps> columns = taps_of(from.w, box.left, box.right, to.w, shape);
  const std::int64_t first = rows.front().first;
  const std::int64_t end = rows.back().first + std::ssize(rows.back().weights);
  return resized_columns(resized_rows(image, first, end - first, columns), first, rows);
}

}  // namespace trainyard
