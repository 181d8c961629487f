// How an elementwise op walks the memory of its tensors: in the longest runs that the layouts
// allow.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/layout.h"

namespace trainyard {

/// One walk over tensors of one shape. A run is a contiguous range of memory that holds the same
/// elements in the same order in every tensor, padding included.
struct Walk {
  enum class Kind {
    dense,    // the whole span is one run: all layouts have the same offsets
    images,   // one run per image: the same order inside an image (channel slices of n, c, h, w and
              // blocked tensors)
    pixels,   // one run per pixel: adjacent channels (channel slices of n, h, w, c tensors)
    strided,  // anything else: element by element along w
  };
  Kind kind = Kind::strided;
  std::int64_t runs = 0;    // not for strided
  std::int64_t length = 0;  // elements per run
};

/// The longest runs that all of `layouts` (equal extents, at least one) share.
[[nodiscard]] Walk plan_walk(std::span<const Layout> layouts);
/// Elements from one run to the next in a tensor of this layout.
[[nodiscard]] std::int64_t run_stride(const Walk& walk, const Layout& layout);

}  // namespace trainyard
