// How an elementwise step walks the memory of its tensors: as few and as long runs as the layouts
// allow.
#pragma once

#include <cstdint>
#include <span>

#include "tensor/layout.h"

namespace trainyard {

/// One walk over tensors of one shape. A run is a stretch of memory that holds the same elements in
/// the same order in every tensor, padding included.
struct Walk {
  enum class Kind {
    dense,    // the whole span is one run: all layouts put everything at the same place
    images,   // a run an image: the same order inside an image (channel slices of n, c, h, w and
              // blocked tensors)
    pixels,   // a run a pixel: channels side by side (channel slices of n, h, w, c tensors)
    strided,  // anything else: element by element along w
  };
  Kind kind = Kind::strided;
  std::int64_t runs = 0;    // not for strided
  std::int64_t length = 0;  // elements a run
};

/// The longest runs that all of `layouts` (equal extents, at least one) share.
[[nodiscard]] Walk plan_walk(std::span<const Layout> layouts);
/// Elements from one run to the next in a tensor of this layout.
[[nodiscard]] std::int64_t run_stride(const Walk& walk, const Layout& layout);

}  // namespace trainyard
