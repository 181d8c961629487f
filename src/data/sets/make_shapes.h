// The shapes set: a substitute for CIFAR-10 on machines without data, in the same binary format.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/filesystem.h"
#include "data/sets/source.h"

namespace trainyard {

/// The ten classes, in the order of their labels.
enum class ShapeFigure : std::uint8_t {
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
[[nodiscard]] float figure_distance(ShapeFigure figure, FigurePoint point);

/// True if a textured figure (stripes, checker, dots) has its second colour at the point.
[[nodiscard]] bool figure_pattern(ShapeFigure figure, FigurePoint point, float frequency);

struct ShapesOptions {
  std::int64_t train = 50000;  // samples, spread evenly over five files; at least 5
  std::int64_t test = 10000;   // at least 1
  std::uint64_t seed = 1;
  int threads = 1;  // does not affect the files
};

/// Writes data_batch_1.bin to data_batch_5.bin, test_batch.bin and batches.meta.txt into the folder
/// `dest`, which must be new or empty; it appears complete or not at all. The same seed and counts
/// give the same bytes. Throws Error{data} if the folder is not empty, Error{disk} if it cannot be
/// written.
void make_shapes(const fs::path& dest, const ShapesOptions& options);

// Draws one image of the shapes set.

inline constexpr std::int64_t kShapesSide = 32;  // pixels

/// Draws sample `index` of a split into `pixels` ([3, 32, 32], planes red, green, blue) and returns
/// its label, an index of figure_names(). A pure function of (seed, split, index): a figure of
/// random position, size, rotation and colours over a shaded, mottled background, with bars and
/// specks behind and in front of it, and noise on every pixel.
std::int32_t draw_shapes_sample(std::uint64_t seed, Split split, std::int64_t index,
                                std::span<std::uint8_t> pixels);

}  // namespace trainyard
