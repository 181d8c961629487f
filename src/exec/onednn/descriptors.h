// Layouts as oneDNN memory descriptors.
#pragma once

#include "exec/onednn/dnnl.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

/// A four-dimensional f32 descriptor: plain strides, or channels in blocks of 8 or 16, as a whole
/// tensor or as a channel slice of a wider one. The slice's own offset is not part of it.
[[nodiscard]] Desc desc_of(const Layout& layout);
/// The same extents, with the layout left to oneDNN.
[[nodiscard]] Desc any_of(const Desc& desc);
/// Row-major f32 of any number of dimensions.
[[nodiscard]] Desc plain_desc(const Dims& dims);
/// f32 of these extents, with the layout left to oneDNN.
[[nodiscard]] Desc any_desc(const Dims& dims);

}  // namespace trainyard::onednn
