#include "data/images/image_resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace trainyard {

namespace {

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
