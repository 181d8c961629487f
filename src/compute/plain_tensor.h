// Plain copies of tensors in the workspace: loops that are written only for row-major n, c, h, w in
// the arithmetic type, and still take any layout and storage type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/offset_allocator.h"
#include "compute/elementwise/map.h"
#include "compute/walk.h"
#include "launcher/launch.h"
#include "tensor/dtype.h"
#include "tensor/layout.h"

namespace trainyard {

/// A tensor as a plain array of T: the tensor itself if it has that form, else a copy.
template <class T>
class PlainTensor {
 public:
  /// `storage` is double if T is, else one of the types that compute in float. If `adds`, store()
  /// adds the array to what the tensor holds, and rounds the sum.
  PlainTensor(const Layout& layout, DType storage, OffsetAllocator& scratch, bool adds = false)
      : plain_(plain_layout(shape_of(layout))),
        adds_(adds),
        direct_(!adds && storage == DTypeOf<T>::value && same_memory(layout, plain_)) {
    TY_CHECK(arithmetic_of(storage) == DTypeOf<T>::value, name_of(storage));
    if (direct_) return;
    walk_ = plan_walk(std::array{layout, plain_});
    const std::size_t bytes = static_cast<std::size_t>(span_elements(plain_)) * sizeof(T);
    offset_ = scratch.take(bytes);
    if (adds) held_offset_ = scratch.take(bytes);
  }
  /// `view` has the layout and type given to the constructor; null data for a tensor that is not
  /// needed.
  void bind(const TensorView& view, void* workspace) {
    view_ = view;
    copy_ = {direct_ ? view.data : address_at(workspace, offset_), DTypeOf<T>::value, plain_};
    held_ = {address_at(workspace, held_offset_), DTypeOf<T>::value, plain_};
  }
  [[nodiscard]] bool wanted() const { return view_.data != nullptr; }
  [[nodiscard]] T* data() const { return copy_.template as<T>(); }
  /// Fills the plain array from the tensor.
  void load(const CpuLauncher& launcher) const {
    if (!direct_) load(launcher, copy_);
  }
  /// Writes the plain array to the tensor, and zeros to its padding.
  void store(const CpuLauncher& launcher) const {
    if (direct_) return;
    if (adds_) {
      load(launcher, held_);
      launcher.each(span_elements(plain_), AddHeld{held_.template as<T>(), data()});
    }
    with_storage(
        [&]<class S>(std::type_identity<S>) { map<S, T>(launcher, walk_, Copy{}, copy_, view_); });
  }

 private:
  struct AddHeld {
    const T* held;
    T* sum;
    TY_HD void operator()(std::int64_t i) const { sum[i] += held[i]; }
  };

  void load(const CpuLauncher& launcher, const TensorView& to) const {
    with_storage(
        [&]<class S>(std::type_identity<S>) { map<T, S>(launcher, walk_, Copy{}, view_, to); });
  }
  /// f of the storage types that compute in T.
  template <class F>
  void with_storage(const F& f) const {
    if constexpr (std::is_same_v<T, double>) {
      f(std::type_identity<double>{});
    } else if (view_.type == DType::f16) {
      f(std::type_identity<Float16>{});
    } else if (view_.type == DType::bf16) {
      f(std::type_identity<BFloat16>{});
    } else {
      f(std::type_identity<float>{});
    }
  }

  Layout plain_;
  bool adds_, direct_;
  Walk walk_;
  std::size_t offset_ = 0, held_offset_ = 0;
  TensorView view_, copy_, held_;  // held: what the tensor has before it is added to
};

/// x rounded to S and back.
template <class S>
struct RoundTo {
  static constexpr bool kKeepsZero = true;
  TY_HD float operator()(float x) const { return S(x); }
};

/// The weights of a layer as used in its products: rounded to the storage type of activations if
/// that is a 16-bit one.
template <class T>
class Factors {
 public:
  Factors(const Shape& weight, DType storage, OffsetAllocator& scratch)
      : layout_(plain_layout(weight)), storage_(storage) {
    if (is_rounded()) {
      offset_ = scratch.take(static_cast<std::size_t>(weight.elements()) * sizeof(T));
    }
  }
  void bind(const TensorView& weight, void* workspace) {
    weight_ = weight;
    rounded_ = {address_at(workspace, offset_), DTypeOf<T>::value, layout_};
  }
  /// Rounds the weights of this step. [shape of the weight], row-major.
  [[nodiscard]] const T* load(const CpuLauncher& launcher) const {
    if constexpr (std::is_same_v<T, float>) {
      const Walk walk{Walk::Kind::dense, 1, span_elements(layout_)};
      if (storage_ == DType::f16) {
        map<float, float>(launcher, walk, RoundTo<Float16>{}, weight_, rounded_);
      } else if (storage_ == DType::bf16) {
        map<float, float>(launcher, walk, RoundTo<BFloat16>{}, weight_, rounded_);
      }
    }
    return is_rounded() ? rounded_.template as<T>() : weight_.template as<T>();
  }

 private:
  [[nodiscard]] bool is_rounded() const { return storage_ != DTypeOf<T>::value; }

  Layout layout_;
  DType storage_;
  std::size_t offset_ = 0;
  TensorView weight_, rounded_;
};

}  // namespace trainyard
