// What ops that read tokens share.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/fields.h"
#include "tensor/shape.h"

namespace trainyard {

/// Throws ShapeError unless `shape` is that of tokens, [n, t].
void require_tokens(std::string_view op, const Shape& shape);
/// The key `vocabulary`, whose default in a network is that of its input.
void declare_vocabulary(config::Fields& fields, std::int64_t& vocabulary);

}  // namespace trainyard
