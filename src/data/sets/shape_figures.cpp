#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "data/sets/make_shapes.h"

namespace trainyard {

namespace {

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
