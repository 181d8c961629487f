#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/philox.h"
#include "data/sets/make_shapes.h"

namespace trainyard {
namespace {

constexpr std::int64_t kPixels = kShapesSide * kShapesSide;
constexpr std::uint32_t kShapesDraw = 16;  // above the draws of the synthetic source

/// The random numbers of one sample, in the order in which they are requested.
class Draws {
 public:
  Draws(std::uint64_t seed, Split split, std::int64_t index)
      : seed_(seed),
        split_(kShapesDraw + static_cast<std::uint32_t>(split)),
        index_(static_cast<std::uint64_t>(index)) {}
  std::uint32_t word() {
    if (used_ % 4 == 0) {
      random_ = random4(seed_, RandomStream::synthetic, used_ / 4, split_, index_);
    }
    return random_.word[used_++ % 4];
  }
  /// [low, high).
  float between(float low, float high) { return low + (high - low) * uniform01(word()); }
  /// 0 to count - 1.
  std::int32_t below(std::int32_t count) {
    return static_cast<std::int32_t>((std::uint64_t{word()} * static_cast<std::uint64_t>(count)) >>
                                     32);
  }

 private:
  std::uint64_t seed_;
  std::uint32_t split_;
  std::uint64_t index_;
  std::uint32_t used_ = 0;
  Random4 random_{};
};

using Color = std::array<float, 3>;         // 0..255
using Canvas = std::array<Color, kPixels>;  // [y, x]

Color drawn_color(Draws& draws) {
  return {draws.between(0, 255), draws.between(0, 255), draws.between(0, 255)};
}

float contrast(const Color& a, const Color& b) {
  return std::max({std::abs(a[0] - b[0]), std::abs(a[1] - b[1]), std::abs(a[2] - b[2])});
}

/// A colour that can be told from another one.
Color drawn_color_unlike(const Color& other, Draws& draws) {
  constexpr float kLeastContrast = 70;
  Color color = drawn_color(draws);
  while (contrast(color, other) < kLeastContrast) color = drawn_color(draws);
  return color;
}

Color mixed(const Color& a, const Color& b, float share) {
  return {a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])};
}

/// The position of a figure on the canvas. `cosine` and `sine` rotate it.
struct Placement {
  float y = 0, x = 0;  // centre, pixels
  float radius = 1;    // pixels
  float cosine = 1, sine = 0;
};

/// A uniformly distributed direction: a point in the unit disc, projected onto the circle.
void turn(Placement& placement, Draws& draws) {
  float x = 0;
  float y = 0;
  float square = 0;
  do {
    x = draws.between(-1, 1);
    y = draws.between(-1, 1);
    square = x * x + y * y;
  } while (square > 1 || square < 0.01f);
  const float scale = 1 / std::sqrt(square);
  placement.cosine = x * scale;
  placement.sine = y * scale;
}

FigurePoint in_figure(const Placement& placement, std::int64_t y, std::int64_t x) {
  const float dx = (static_cast<float>(x) - placement.x) / placement.radius;
  const float dy = (static_cast<float>(y) - placement.y) / placement.radius;
  return {placement.cosine * dx + placement.sine * dy, placement.cosine * dy - placement.sine * dx};
}

/// Paints color(point) over the canvas where distance(point) (in radii) is negative, with an edge
/// one pixel wide.
template <class Distance, class ColorAt>
void paint(Canvas& canvas, const Placement& placement, float reach, const Distance& distance,
           const ColorAt& color) {
  const auto pixel = [](float value) {
    return std::clamp(static_cast<std::int64_t>(std::floor(value)), std::int64_t{0},
                      kShapesSide - 1);
  };
  const float extent = reach * placement.radius + 1;
  for (std::int64_t y = pixel(placement.y - extent); y <= pixel(placement.y + extent); ++y) {
    for (std::int64_t x = pixel(placement.x - extent); x <= pixel(placement.x + extent); ++x) {
      const FigurePoint point = in_figure(placement, y, x);
      const float cover = std::clamp(0.5f - distance(point) * placement.radius, 0.0f, 1.0f);
      Color& under = canvas[static_cast<std::size_t>(y * kShapesSide + x)];
      if (cover > 0) under = mixed(under, color(point), cover);
    }
  }
}

/// A gradient from one colour to another along a random direction, mottled by a coarse lattice of
/// random brightness. Returns the mean of the two colours.
Color paint_background(Canvas& canvas, Draws& draws) {
  constexpr std::int64_t kLattice = 6;  // points per side, 6.4 pixels apart
  const Color from = drawn_color(draws);
  const Color to = mixed(from, drawn_color(draws), 0.6f);
  Placement shade{15.5f, 15.5f, 22};
  turn(shade, draws);
  std::array<float, kLattice * kLattice> lattice;
  const float strength = draws.between(5, 45);
  for (float& value : lattice) value = draws.between(-strength, strength);
  for (std::int64_t i = 0; i < kPixels; ++i) {
    const std::int64_t y = i / kShapesSide;
    const std::int64_t x = i % kShapesSide;
    const float share = 0.5f + 0.5f * in_figure(shade, y, x).u;
    constexpr float kStep = static_cast<float>(kLattice - 1) / static_cast<float>(kShapesSide);
    const float v = kStep * static_cast<float>(y);
    const float u = kStep * static_cast<float>(x);
    const auto row = static_cast<std::size_t>(v);
    const auto column = static_cast<std::size_t>(u);
    const float* at = lattice.data() + row * kLattice + column;
    const float right = u - static_cast<float>(column);
    const float upper = at[0] + right * (at[1] - at[0]);
    const float lower = at[kLattice] + right * (at[kLattice + 1] - at[kLattice]);
    const float bright = upper + (v - static_cast<float>(row)) * (lower - upper);
    const Color color = mixed(from, to, share);
    canvas[static_cast<std::size_t>(i)] = {color[0] + bright, color[1] + bright, color[2] + bright};
  }
  return mixed(from, to, 0.5f);
}

/// A bar or a speck somewhere.
void paint_clutter(Canvas& canvas, Draws& draws) {
  Placement placement{draws.between(0, 31), draws.between(0, 31), draws.between(2, 7)};
  turn(placement, draws);
  const float width = draws.between(0.12f, 0.5f);
  const Color color = drawn_color(draws);
  paint(
      canvas, placement, 1.5f,
      [&](FigurePoint point) {
        return std::max(std::abs(point.u) - 1.0f, std::abs(point.v) - width);
      },
      [&](FigurePoint) { return color; });
}

void paint_figure(Canvas& canvas, ShapeFigure figure, const Color& background, Draws& draws) {
  Placement placement;
  placement.radius = draws.between(6, 12);
  placement.y = draws.between(placement.radius - 2, 33 - placement.radius);
  placement.x = draws.between(placement.radius - 2, 33 - placement.radius);
  turn(placement, draws);
  const Color near = drawn_color_unlike(background, draws);
  const Color far = mixed(near, drawn_color(draws), 0.3f);  // a gradient over the figure
  const Color second = drawn_color_unlike(near, draws);     // color of the pattern
  const float frequency = placement.radius / draws.between(2.2f, 3.6f);
  paint(
      canvas, placement, 1.5f, [&](FigurePoint point) { return figure_distance(figure, point); },
      [&](FigurePoint point) {
        if (figure_pattern(figure, point, frequency)) return second;
        return mixed(near, far, 0.5f + 0.5f * point.v);
      });
}

/// Rounds with approximately normal noise: the sum of the four bytes of a word.
void write_pixels(const Canvas& canvas, Draws& draws, std::span<std::uint8_t> pixels) {
  // Four uniform bytes have the variance 4 (256^2 - 1) / 12 = 147.8^2.
  const float scale = draws.between(4, 22) / 147.8f;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    for (std::size_t i = 0; i < canvas.size(); ++i) {
      const std::uint32_t word = draws.word();
      const std::uint32_t sum =
          (word & 0xff) + ((word >> 8) & 0xff) + ((word >> 16) & 0xff) + (word >> 24);
      const float noise = (static_cast<float>(sum) - 510.0f) * scale;
      const float value = std::clamp(canvas[i][channel] + noise, 0.0f, 255.0f);
      // lround would give another byte just below 0.5, and the bytes for a seed must not change.
      // NOLINTNEXTLINE(bugprone-incorrect-roundings)
      pixels[channel * canvas.size() + i] = static_cast<std::uint8_t>(value + 0.5f);
    }
  }
}

float length(FigurePoint point) { return std::sqrt(point.u * point.u + point.v * point.v); }

float box(FigurePoint point, float half_u, float half_v) {
  return std::max(std::abs(point.u) - half_u, std::abs(point.v) - half_v);
}

/// Three half-planes around the centre: unit normals 120 degrees apart.
float triangle(FigurePoint point) {
  constexpr float kSine60 = 0.8660254f;
  const float left = -kSine60 * point.u + 0.5f * point.v;
  const float right = kSine60 * point.u + 0.5f * point.v;
  return std::max({-point.v, left, right}) - 0.55f;
}

/// A pentagram is the area outside of at most one of five half-planes: the second largest distance.
float star(FigurePoint point) {
  constexpr float kSine72 = 0.9510565f, kCosine72 = 0.3090170f;
  constexpr float kSine36 = 0.5877853f, kCosine36 = 0.8090170f;
  std::array<float, 5> planes{
      point.v, kSine72 * point.u + kCosine72 * point.v, -kSine72 * point.u + kCosine72 * point.v,
      kSine36 * point.u - kCosine36 * point.v, -kSine36 * point.u - kCosine36 * point.v};
  std::nth_element(planes.begin(), planes.begin() + 1, planes.end(), std::greater<>());
  return planes[1] - 0.36f;
}

float crescent(FigurePoint point) {
  return std::max(length(point) - 1.0f, 0.8f - length({point.u - 0.5f, point.v}));
}

/// The fractional part, in [0, 1), also of negative numbers.
float part(float value) { return value - std::floor(value); }

bool odd(float value) { return part(0.5f * std::floor(value)) != 0; }

}  // namespace

std::int32_t draw_shapes_sample(std::uint64_t seed, Split split, std::int64_t index,
                                std::span<std::uint8_t> pixels) {
  Draws draws(seed, split, index);
  const std::int32_t label = draws.below(kFigures);
  Canvas canvas;
  const Color background = paint_background(canvas, draws);
  for (std::int32_t i = draws.below(4) + 1; i > 0; --i) paint_clutter(canvas, draws);
  paint_figure(canvas, static_cast<ShapeFigure>(label), background, draws);
  for (std::int32_t i = draws.below(3); i > 0; --i) paint_clutter(canvas, draws);
  write_pixels(canvas, draws, pixels);
  return label;
}

std::span<const std::string_view> figure_names() {
  static constexpr std::array<std::string_view, kFigures> kNames{
      "disc",  "ring",     "square",  "triangle", "star",
      "cross", "crescent", "stripes", "checker",  "dots"};
  return kNames;
}

float figure_distance(ShapeFigure figure, FigurePoint point) {
  switch (figure) {
    case ShapeFigure::ring:
      return std::abs(length(point) - 0.75f) - 0.25f;
    case ShapeFigure::square:
      return box(point, 0.8f, 0.8f);
    case ShapeFigure::triangle:
      return triangle(point);
    case ShapeFigure::star:
      return star(point);
    case ShapeFigure::cross:
      return std::min(box(point, 1.0f, 0.33f), box(point, 0.33f, 1.0f));
    case ShapeFigure::crescent:
      return crescent(point);
    case ShapeFigure::disc:
    case ShapeFigure::stripes:
    case ShapeFigure::checker:
    case ShapeFigure::dots:
      break;
  }
  return length(point) - 1.0f;
}

bool figure_pattern(ShapeFigure figure, FigurePoint point, float frequency) {
  const float u = point.u * frequency;
  const float v = point.v * frequency;
  if (figure == ShapeFigure::stripes) return odd(u);
  if (figure == ShapeFigure::checker) return odd(u) != odd(v);
  if (figure != ShapeFigure::dots) return false;
  constexpr float kDotRadius = 0.32f;
  return length({part(0.7f * u) - 0.5f, part(0.7f * v) - 0.5f}) < kDotRadius;
}

}  // namespace trainyard
