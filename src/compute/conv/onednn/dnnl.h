// The API of oneDNN version 3: primitive descriptors straight from their parameters. The only file
// that knows version 2's operation descriptors.
//
// All primitives sum in f32, of f32 or bf16, with the caller's scratchpad. Makers that choose an
// implementation return an empty descriptor if oneDNN has none.
#pragma once

#include <dnnl.hpp>
#include <string_view>

#include "tensor/layout.h"

namespace trainyard::onednn {

using Desc = dnnl::memory::desc;
using Dims = dnnl::memory::dims;

/// Scratchpad in the executor's workspace: the library's own is tied to the creating thread.
inline dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

/// Window of a convolution. Dilation counts from 0 (0: dense), as in oneDNN.
struct WindowDims {
  Dims size, stride, dilation, before, after;
};

template <class Primitive, class... Parameters>
typename Primitive::primitive_desc make_desc(const dnnl::engine& engine,
                                             const dnnl::primitive_attr& attr,
                                             Parameters&&... parameters) {
  constexpr bool allow_empty = true;
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine, parameters..., attr, allow_empty);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(parameters...), attr, engine,
                                            allow_empty);
#endif
}

template <class Primitive, class Hint, class... Parameters>
typename Primitive::primitive_desc make_backward_desc(const dnnl::engine& engine, const Hint& hint,
                                                      Parameters&&... parameters) {
  constexpr bool allow_empty = true;
#if DNNL_VERSION_MAJOR >= 3
  return typename Primitive::primitive_desc(engine, parameters..., hint, user_scratchpad(),
                                            allow_empty);
#else
  return typename Primitive::primitive_desc(typename Primitive::desc(parameters...),
                                            user_scratchpad(), engine, hint, allow_empty);
#endif
}

#if DNNL_VERSION_MAJOR >= 3

inline Dims dims_of(const Desc& desc) { return desc.get_dims(); }
inline dnnl::memory::data_type data_type_of(const Desc& desc) { return desc.get_data_type(); }

/// Products of small matrices, by name brgconv, brg_conv and brg_matmul, may divide a sum among
/// threads, so that its bits depend on their number: the next implementation takes their place.
/// Empty if there is none.
template <class Description>
Description with_fixed_sums(Description desc) {
  while (desc && std::string_view(desc.impl_info_str()).find("brg") != std::string_view::npos) {
    if (!desc.next_impl()) return {};
  }
  return desc;
}

#else

inline Dims dims_of(const Desc& desc) { return desc.dims(); }
inline dnnl::memory::data_type data_type_of(const Desc& desc) { return desc.data_type(); }

/// Version 2 sums in a fixed order in each form that the tests have.
template <class Description>
Description with_fixed_sums(Description desc) {
  return desc;
}

#endif

/// `bias` is an empty descriptor if there is none. Groups: weights [g, o / g, i / g, kh, kw].
/// `adds`: to what is in dst.
inline auto convolution_forward(const dnnl::engine& engine, const Desc& src, const Desc& weights,
                                const Desc& bias, const Desc& dst, const WindowDims& window,
                                bool adds) {
  dnnl::primitive_attr attr = user_scratchpad();
  dnnl::post_ops sum;
  if (adds) sum.append_sum();
  attr.set_post_ops(sum);
  return with_fixed_sums(make_desc<dnnl::convolution_forward>(
      engine, attr, dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, src,
      weights, bias, dst, window.stride, window.dilation, window.before, window.after));
}
inline auto convolution_backward_data(const dnnl::engine& engine,
                                      const dnnl::convolution_forward::primitive_desc& hint,
                                      const Desc& src, const Desc& weights, const Desc& dst,
                                      const WindowDims& window) {
  return with_fixed_sums(make_backward_desc<dnnl::convolution_backward_data>(
      engine, hint, dnnl::algorithm::convolution_direct, src, weights, dst, window.stride,
      window.dilation, window.before, window.after));
}

inline auto reordering(const dnnl::engine& engine, const Desc& from, const Desc& to) {
  return dnnl::reorder::primitive_desc(engine, from, engine, to, user_scratchpad());
}

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
