// The unit of the flat blocks.
#pragma once

#include <cstdint>

namespace trainyard {

/// The flat blocks are divided into chunks of this many elements; a chunk belongs to one parameter
/// (parameters start at multiples of it, the rest of the last chunk is zero). 64 floats are a
/// 256-byte line, the alignment of the arenas.
inline constexpr std::int64_t kChunk = 64;

}  // namespace trainyard
