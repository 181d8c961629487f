// Checks of the dimensions of an input, and the key of those that read tokens.
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
/// Throws ShapeError unless `shape` is that of tokens, [n, t].
void require_tokens(std::string_view op, const Shape& shape);
/// The key `vocabulary`, whose default in a network is that of its input.
void declare_vocabulary(config::Fields& fields, std::int64_t& vocabulary);

}  // namespace trainyard
