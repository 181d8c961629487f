// Draws one image of the shapes set.
#pragma once

#include <cstdint>
#include <span>

#include "data/sets/shape_figures.h"
#include "data/sets/source.h"

namespace trainyard {

inline constexpr std::int64_t kShapesSide = 32;  // pixels

/// Draws sample `index` of a split into `pixels` ([3, 32, 32], planes red, green, blue) and returns
/// its label, an index of figure_names(). A pure function of (seed, split, index): a figure of
/// random position, size, rotation and colours over a shaded, mottled background, with bars and
/// specks behind and in front of it, and noise on every pixel.
std::int32_t draw_shapes_sample(std::uint64_t seed, Split split, std::int64_t index,
                                std::span<std::uint8_t> pixels);

}  // namespace trainyard
