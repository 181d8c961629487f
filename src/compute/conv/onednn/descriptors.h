// Layouts as oneDNN memory descriptors.
#pragma once

#include "compute/conv/onednn/dnnl.h"
#include "tensor/layout.h"

namespace trainyard::onednn {

/// A four-dimensional descriptor of f32 or bf16: plain strides, or channels in blocks of 8 or 16,
/// as a whole tensor or as a channel slice of a wider one. The slice's own offset is not part of
/// it.
[[nodiscard]] Desc desc_of(const Layout& layout, DType type = DType::f32);
/// The same extents and type, with the layout left to oneDNN.
[[nodiscard]] Desc any_of(const Desc& desc);
/// Row-major, of any number of dimensions.
[[nodiscard]] Desc plain_desc(const Dims& dims, DType type = DType::f32);
/// These extents, with the layout left to oneDNN.
[[nodiscard]] Desc any_desc(const Dims& dims, DType type = DType::f32);

}  // namespace trainyard::onednn
