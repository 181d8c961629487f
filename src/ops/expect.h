// Checks of the dimensions of an input.
#pragma once

#include "ops/op.h"

namespace trainyard {

/// Throws ShapeError unless `shape` is [n, c, h, w].
void require_images(const Shape& shape);
/// Throws ShapeError unless `shape` is a sequence [n, c, 1, t].
void require_sequence(const Shape& shape);
/// Throws ShapeError unless `mask` is [n, t], for a sequence [n, c, 1, t].
void require_mask(const Shape& sequence, const Shape& mask);
/// Throws ShapeError unless `shape` is [n, c] or [n, c, h, w].
void require_features_or_images(const Shape& shape);
/// Throws ShapeError unless `channels` ("filters") split evenly into `groups`.
void require_groups(const char* what, std::int64_t channels, std::int64_t groups);

}  // namespace trainyard
