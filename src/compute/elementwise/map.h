// Elementwise ops over tensors of any layout, written once: out = body(a) or out = body(a, b).
//
// Tensors are stored in T or in their own types; a body sees their values in Arithmetic<T>. A body
// is a struct with a const operator() on values and a constant kKeepsZero, true if zeros give zero:
// then the inputs' padding gives the output's padding. Otherwise the padding is zeroed afterwards.
// The output may be one of the inputs.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/half.h"
#include "compute/walk.h"
#include "launcher/pack.h"
#include "tensor/layout.h"

namespace trainyard {

/// True for the address of a 16-byte vector, and of its first element.
[[nodiscard]] inline bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

/// out[o] = body(a[i]).
template <class Body, class Out, class A>
struct UnaryElement {
  Body body;
  Out* out;
  const A* a;
  static constexpr int kTogether = 16 / (sizeof(Out) > sizeof(A) ? sizeof(Out) : sizeof(A));
  TY_HD void apply(std::int64_t o, std::int64_t i, std::int64_t /*unused*/) const {
    out[o] = static_cast<Out>(body(static_cast<Arithmetic<A>>(a[i])));
  }
  /// kTogether elements from each offset on, a multiple of it.
  TY_HD void apply_pack(std::int64_t o, std::int64_t i, std::int64_t /*unused*/) const {
    const Pack<A, kTogether> values = load_pack<A, kTogether>(a + i);
    Pack<Out, kTogether> results;
    TY_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      results.value[k] = static_cast<Out>(body(static_cast<Arithmetic<A>>(values.value[k])));
    }
    store_pack<Out, kTogether>(out + o, results);
  }
  /// True if every pack is aligned to its size.
  [[nodiscard]] bool in_packs() const { return is_aligned(out) && is_aligned(a); }
};

/// out[o] = body(a[i], b[j]).
template <class Body, class T>
struct BinaryElement {
  Body body;
  T* out;
  const T* a;
  const T* b;
  static constexpr int kTogether = kPack<T>;
  TY_HD void apply(std::int64_t o, std::int64_t i, std::int64_t j) const {
    out[o] =
        static_cast<T>(body(static_cast<Arithmetic<T>>(a[i]), static_cast<Arithmetic<T>>(b[j])));
  }
  TY_HD void apply_pack(std::int64_t o, std::int64_t i, std::int64_t j) const {
    const Pack<T, kTogether> first = load_pack<T, kTogether>(a + i);
    const Pack<T, kTogether> second = load_pack<T, kTogether>(b + j);
    Pack<T, kTogether> results;
    TY_UNROLL
    for (int k = 0; k < kTogether; ++k) {
      results.value[k] = static_cast<T>(body(static_cast<Arithmetic<T>>(first.value[k]),
                                             static_cast<Arithmetic<T>>(second.value[k])));
    }
    store_pack<T, kTogether>(out + o, results);
  }
  [[nodiscard]] bool in_packs() const { return is_aligned(out) && is_aligned(a) && is_aligned(b); }
};

/// A single run over the whole memory.
template <class Element>
struct DenseMap {
  Element element;
  TY_HD void operator()(std::int64_t i) const { element.apply(i, i, i); }
};

/// From one run to the next in out, a, b.
struct RunStrides {
  std::int64_t out, a, b;
};

/// A row is a run.
template <class Element>
struct RunMap {
  Element element;
  std::int64_t length;
  RunStrides stride;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t run) const {
    const std::int64_t o = run * stride.out, i = run * stride.a, j = run * stride.b;
    team.each(length, [&](std::int64_t k) { element.apply(o + k, i + k, j + k); });
  }
};

/// Runs in packs, for launchers whose threads read 16 bytes together; without whole packs, or
/// behind the last one of a run, element by element. A call is a pack of a run.
template <class Element>
struct PackedRuns {
  static constexpr int kTogether = Element::kTogether;
  Element element;
  std::int64_t length;
  RunStrides stride;
  std::uint32_t packs_of_run;
  bool packs;
  TY_HD void operator()(std::int64_t call) const {
    const std::uint32_t run = static_cast<std::uint32_t>(call) / packs_of_run;
    const std::int64_t first = (call - std::int64_t{run} * packs_of_run) * kTogether;
    const std::int64_t o = run * stride.out, i = run * stride.a, j = run * stride.b;
    if (packs && first + kTogether <= length) {
      return element.apply_pack(o + first, i + first, j + first);
    }
    for (std::int64_t k = first; k < length && k < first + kTogether; ++k) {
      element.apply(o + k, i + k, j + k);
    }
  }
};

template <class Launcher, class Element>
void map_runs(const Launcher& launcher, const Element& element, std::int64_t runs,
              std::int64_t length, const RunStrides& stride) {
  if constexpr (Launcher::kPacks && requires { Element::kTogether; }) {
    constexpr std::int64_t kTogether = Element::kTogether;
    const auto whole = [](std::int64_t step) { return step % kTogether == 0; };
    const bool packs =
        element.in_packs() && whole(stride.out) && whole(stride.a) && whole(stride.b);
    const std::int64_t packs_of_run = (length + kTogether - 1) / kTogether;
    TY_CHECK(runs * packs_of_run <= std::numeric_limits<std::uint32_t>::max(),
             "the packs of an elementwise op are counted in 32 bits");
    launcher.each(runs * packs_of_run,
                  PackedRuns<Element>{element, length, stride,
                                      static_cast<std::uint32_t>(packs_of_run), packs});
  } else if (runs == 1) {
    launcher.each(length, DenseMap<Element>{element});
  } else {
    launcher.rows(runs, RunMap<Element>{element, length, stride});
  }
}

/// Splits a row number into n, c, h.
struct RowIndex {
  std::int64_t n, c, h;
  TY_HD RowIndex(const Layout& layout, std::int64_t row)
      : n(row / layout.extent[2] / layout.extent[1]),
        c(row / layout.extent[2] % layout.extent[1]),
        h(row % layout.extent[2]) {}
};
/// Number of rows along w.
TY_HD std::int64_t w_rows(const Layout& layout) {
  return layout.extent[0] * layout.extent[1] * layout.extent[2];
}

/// A row is the elements along w at one n, c, h.
template <class Element>
struct StridedMap {
  Element element;
  Layout layout[3];  // layouts of out, a, b
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const RowIndex at(layout[0], row);
    const std::int64_t o = layout[0].offset(at.n, at.c, at.h, 0);
    const std::int64_t i = layout[1].offset(at.n, at.c, at.h, 0);
    const std::int64_t j = layout[2].offset(at.n, at.c, at.h, 0);
    team.each(layout[0].extent[3], [&](std::int64_t w) {
      element.apply(o + w * layout[0].stride[3], i + w * layout[1].stride[3],
                    j + w * layout[2].stride[3]);
    });
  }
};

/// The same for launchers whose neighbouring threads read neighbouring memory best: a call is an
/// element, in the order in which they follow each other in `out`.
template <class Element>
struct StridedElements {
  Element element;
  Layout layout[3];      // layouts of out, a, b
  bool channels_inside;  // true for an out of n, h, w, c or blocked
  TY_HD void operator()(std::int64_t call) const {
    std::uint32_t left = static_cast<std::uint32_t>(call);
    const auto take = [&](int axis) {
      const auto extent = static_cast<std::uint32_t>(layout[0].extent[axis]);
      const std::uint32_t index = left % extent;
      left /= extent;
      return index;
    };
    std::uint32_t c = 0;
    if (channels_inside) c = take(1);
    const std::uint32_t w = take(3), h = take(2);
    if (!channels_inside) c = take(1);
    element.apply(layout[0].offset(left, c, h, w), layout[1].offset(left, c, h, w),
                  layout[2].offset(left, c, h, w));
  }
};

template <class Launcher, class Element>
void map_strided(const Launcher& launcher, const Element& element, const Layout& out,
                 const Layout& a, const Layout& b) {
  if constexpr (Launcher::kPacks) {
    const std::int64_t elements = w_rows(out) * out.extent[3];
    TY_CHECK(elements <= std::numeric_limits<std::uint32_t>::max(),
             "the elements of an elementwise op are counted in 32 bits");
    const bool channels_inside = out.block > 1 || out.stride[1] == 1;
    launcher.each(elements, StridedElements<Element>{element, {out, a, b}, channels_inside});
  } else {
    launcher.rows(w_rows(out), StridedMap<Element>{element, {out, a, b}});
  }
}

/// Zeroes the padding channels. A row is a padding channel of an image.
template <class T>
struct PaddingZeros {
  T* data;
  Layout layout;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t padding = layout.padded_channels - layout.extent[1];
    const std::int64_t n = row / padding, c = layout.extent[1] + row % padding;
    for (std::int64_t h = 0; h < layout.extent[2]; ++h) {
      const std::int64_t at = layout.offset(n, c, h, 0);
      team.each(layout.extent[3], [&](std::int64_t w) { data[at + w * layout.stride[3]] = T{}; });
    }
  }
};

/// Writes zeros to the padding channels of `tensor`, if it has any.
template <class T, class Launcher>
void zero_padding(const Launcher& launcher, const TensorView& tensor) {
  const Layout& layout = tensor.layout;
  const std::int64_t rows = layout.extent[0] * (layout.padded_channels - layout.extent[1]);
  if (rows > 0) launcher.rows(rows, PaddingZeros<T>{tensor.as<T>(), layout});
}

/// Runs `element` along the walk; for an element with one input `b` is any layout.
template <class Launcher, class Element>
void map_elements(const Launcher& launcher, const Walk& walk, const Element& element,
                  const Layout& out, const Layout& a, const Layout& b) {
  switch (walk.kind) {
    case Walk::Kind::dense:
    case Walk::Kind::images:
    case Walk::Kind::pixels:
      return map_runs(launcher, element, walk.runs, walk.length,
                      {run_stride(walk, out), run_stride(walk, a), run_stride(walk, b)});
    case Walk::Kind::strided:
      return map_strided(launcher, element, out, a, b);
  }
}

/// out = body(a). The types may differ. The walk is that of the layouts of `out` and `a`.
template <class Out, class A, class Launcher, class Body>
void map(const Launcher& launcher, const Walk& walk, const Body& body, const TensorView& a,
         const TensorView& out) {
  const UnaryElement<Body, Out, A> element{body, out.as<Out>(), a.as<A>()};
  map_elements(launcher, walk, element, out.layout, a.layout, a.layout);
  if (!Body::kKeepsZero || walk.kind == Walk::Kind::strided) zero_padding<Out>(launcher, out);
}

/// out = body(a, b). The walk is that of the layouts of all three.
template <class T, class Launcher, class Body>
void map(const Launcher& launcher, const Walk& walk, const Body& body, const TensorView& a,
         const TensorView& b, const TensorView& out) {
  const BinaryElement<Body, T> element{body, out.as<T>(), a.as<T>(), b.as<T>()};
  map_elements(launcher, walk, element, out.layout, a.layout, b.layout);
  if (!Body::kKeepsZero || walk.kind == Walk::Kind::strided) zero_padding<T>(launcher, out);
}

/// The value, converted if the types differ.
struct Copy {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T x) const {
    return x;
  }
};

/// a * b.
struct Product {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return a * b;
  }
};

/// a + b.
struct Sum {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return a + b;
  }
};

}  // namespace trainyard
