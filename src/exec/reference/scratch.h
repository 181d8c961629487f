// Plain copies of tensors in the workspace: so every loop of the reference device is written for
// row-major n, c, h, w alone, and any layout works.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/launch.h"
#include "ops/elementwise.h"
#include "ops/walk.h"
#include "tensor/layout.h"

namespace trainyard::reference {

/// Hands out places in a workspace, each at a multiple of 64 bytes.
class Scratch {
 public:
  /// Offset of `bytes` fresh bytes.
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// A tensor as a plain array: the tensor itself where it lies so, else a copy.
template <class T>
class PlainTensor {
 public:
  PlainTensor(const Layout& layout, Scratch& scratch)
      : plain_(plain_layout(shape_of(layout))), direct_(same_memory(layout, plain_)) {
    if (direct_) return;
    walk_ = plan_walk(std::array{layout, plain_});
    offset_ = scratch.take(static_cast<std::size_t>(span_elements(plain_)) * sizeof(T));
  }
  /// `view` has the layout given to the constructor; null data for a tensor that is not wanted.
  void bind(const TensorView& view, void* workspace) {
    view_ = view;
    copy_ = {direct_ ? view.data : static_cast<std::byte*>(workspace) + offset_, view.type, plain_};
  }
  [[nodiscard]] bool wanted() const { return view_.data != nullptr; }
  [[nodiscard]] T* data() const { return copy_.template as<T>(); }
  /// Fills the plain array from the tensor.
  void load(const CpuLauncher& launcher) const {
    if (!direct_) map<T, T>(launcher, walk_, Copy{}, view_, copy_);
  }
  /// Writes the plain array to the tensor, and zeros to its padding.
  void store(const CpuLauncher& launcher) const {
    if (!direct_) map<T, T>(launcher, walk_, Copy{}, copy_, view_);
  }

 private:
  Layout plain_;
  bool direct_;
  Walk walk_;
  std::size_t offset_ = 0;
  TensorView view_, copy_;
};

}  // namespace trainyard::reference
