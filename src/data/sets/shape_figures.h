// The figures of the shapes set: signed distances and patterns in a figure's own coordinates, where
// its radius is about 1. Only + - * / and sqrt, which IEEE 754 rounds the same everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace trainyard {

/// The ten classes, in the order of their labels.
enum class Figure : std::uint8_t {
  disc,
  ring,
  square,
  triangle,
  star,
  cross,
  crescent,
  stripes,
  checker,
  dots,
};
inline constexpr std::int32_t kFigures = 10;
[[nodiscard]] std::span<const std::string_view> figure_names();

/// A point in the figure's coordinates.
struct FigurePoint {
  float u = 0;
  float v = 0;
};

/// The distance of a point from the figure's outline; negative inside. Exact for round and straight
/// outlines, a lower bound beyond corners.
[[nodiscard]] float figure_distance(Figure figure, FigurePoint point);

/// True if a textured figure (stripes, checker, dots) has its second colour at the point.
[[nodiscard]] bool figure_pattern(Figure figure, FigurePoint point, float frequency);

}  // namespace trainyard
