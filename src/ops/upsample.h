// Larger maps by whole factors.
#pragma once

#include <string>

#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/places.h"
#include "ops/step_tensors.h"
#include "ops/window.h"

namespace trainyard {

/// One axis: which inputs an output is made of. Bilinear: the centres of the outputs lie evenly
/// between those of the inputs, and the edge is repeated (PyTorch with align_corners false, Keras).
struct UpsampleAxis {
  std::int64_t input, factor;
  bool bilinear;
  Divisor by_factor, by_period;  // of `factor` and of its double

  UpsampleAxis(std::int64_t extent, std::int64_t factor_, bool bilinear_)
      : input(extent),
        factor(factor_),
        bilinear(bilinear_),
        by_factor(factor_),
        by_period(2 * factor_) {}

  /// The input of an output, of the nearest kind.
  [[nodiscard]] TY_HD std::int64_t nearest(std::int64_t output) const {
    return by_factor(static_cast<std::uint32_t>(output));
  }
  /// Output = (1 - weight) * input[low] + weight * input[high].
  struct Taps {
    std::int64_t low, high;
    double weight;
  };
  [[nodiscard]] TY_HD Taps taps(std::int64_t output) const {
    // In halves of an output pixel, so that it is exact: (output + 1/2) / factor - 1/2.
    const std::int64_t twice = 2 * output + 1 - factor;
    const std::int64_t from = twice > 0 ? twice : 0;
    const std::int64_t low = by_period(static_cast<std::uint32_t>(from));
    const double weight = static_cast<double>(from - low * 2 * factor) / (2 * factor);
    return {low, low + 1 < input ? low + 1 : low, weight};
  }
  /// The weight of an input in one of the outputs [first, last) that use it: 1 less its distance
  /// from the output's centre, which is not beyond those of the outermost inputs.
  [[nodiscard]] TY_HD double weight(std::int64_t index, std::int64_t output) const {
    if (!bilinear) return 1;
    const std::int64_t twice = 2 * output + 1 - factor, most = 2 * factor * (input - 1);
    const std::int64_t inside = twice < 0 ? 0 : twice > most ? most : twice;
    const std::int64_t beyond = inside - 2 * factor * index;
    return beyond < 0 ? static_cast<double>(2 * factor + beyond) / (2 * factor)
                      : 1 - static_cast<double>(beyond) / (2 * factor);
  }
  [[nodiscard]] TY_HD std::int64_t first(std::int64_t index) const {
    if (!bilinear) return index * factor;
    return index == 0 ? 0 : index * factor - (factor + 1) / 2 + factor % 2;
  }
  [[nodiscard]] TY_HD std::int64_t last(std::int64_t index) const {
    if (!bilinear) return (index + 1) * factor;
    return index + 1 == input ? input * factor : index * factor + (3 * factor) / 2;
  }
};

/// Both axes and the smaller of the two maps.
struct UpsampleMaps {
  UpsampleAxis h, w;
  Places small, large;
};

template <class T>
struct UpsampleValue {
  using A = Arithmetic<T>;
  UpsampleMaps maps;
  const T* x;

  template <class Set>
  TY_HD void strip(const Strip& strip, const Set& set) const {
    maps.h.bilinear ? mixed(strip, set) : repeated(strip, set);
  }

 private:
  template <class Set>
  TY_HD void repeated(const Strip& strip, const Set& set) const {
    const Places& small = maps.small;
    const std::int64_t n = strip.first.n, c = strip.first.c;
    const std::int64_t row = maps.h.nearest(strip.h) * small.width;
    if (strip.channels) {
      return copy_channels(x, small, n, c, row + maps.w.nearest(strip.w), 0, strip.count, set);
    }
    const T* const source = x + small.offset(n, c, row);
    set(0, strip.count, [this, source, &strip](std::int64_t k) {
      return static_cast<A>(source[maps.w.nearest(strip.w + k) * maps.small.pixel_stride]);
    });
  }
  template <class Set>
  TY_HD void mixed(const Strip& strip, const Set& set) const {
    const Places& small = maps.small;
    const std::int64_t n = strip.first.n;
    const UpsampleAxis::Taps h = maps.h.taps(strip.h);
    const A below = static_cast<A>(h.weight);
    const auto mix = [below](A right, A a, A b, A c, A d) {
      const A upper = a * (A(1) - right) + b * right, lower = c * (A(1) - right) + d * right;
      return upper * (A(1) - below) + lower * below;
    };
    if (!strip.channels) {
      const T* const upper = x + small.offset(n, strip.first.c, h.low * small.width);
      const T* const lower = x + small.offset(n, strip.first.c, h.high * small.width);
      return set(0, strip.count, [this, upper, lower, mix, &strip](std::int64_t k) {
        const UpsampleAxis::Taps w = maps.w.taps(strip.w + k);
        const std::int64_t low = w.low * maps.small.pixel_stride;
        const std::int64_t high = w.high * maps.small.pixel_stride;
        return mix(static_cast<A>(w.weight), static_cast<A>(upper[low]),
                   static_cast<A>(upper[high]), static_cast<A>(lower[low]),
                   static_cast<A>(lower[high]));
      });
    }
    const UpsampleAxis::Taps w = maps.w.taps(strip.w);
    const A right = static_cast<A>(w.weight);
    for (std::int64_t begin = 0; begin < strip.count;) {
      const std::int64_t c = strip.first.c + begin;
      const std::int64_t end = begin + small.together(c, strip.count - begin);
      const T* const ul = x + small.offset(n, c, h.low, w.low);
      const T* const ur = x + small.offset(n, c, h.low, w.high);
      const T* const ll = x + small.offset(n, c, h.high, w.low);
      const T* const lr = x + small.offset(n, c, h.high, w.high);
      set(begin, end, [=](std::int64_t k) {
        const std::int64_t i = k - begin;
        return mix(right, static_cast<A>(ul[i]), static_cast<A>(ur[i]), static_cast<A>(ll[i]),
                   static_cast<A>(lr[i]));
      });
      begin = end;
    }
  }
};

/// dx of an input pixel: the sum over the outputs that it is part of, in row-major order.
template <class T>
struct UpsampleGradient {
  using A = Arithmetic<T>;
  UpsampleMaps maps;
  const T* dy;

  template <class Set>
  TY_HD void strip(const Strip& strip, const Set& set) const {
    if (!strip.channels || strip.count < 8) {
      return set(0, strip.count, [this, &strip](std::int64_t k) {
        A total[1];
        const std::int64_t c = strip.first.c + (strip.channels ? k : 0);
        sum<1>(strip, c, strip.w + (strip.channels ? 0 : k), 1, total);
        return total[0];
      });
    }
    for (std::int64_t begin = 0; begin < strip.count;) {
      const std::int64_t c = strip.first.c + begin;
      const std::int64_t room = strip.count - begin < kMost ? strip.count - begin : kMost;
      const std::int64_t end = begin + maps.large.together(c, room);
      A total[kMost];
      sum<kMost>(strip, c, strip.w, end - begin, total);
      set(begin, end, [&total, begin](std::int64_t k) { return total[k - begin]; });
      begin = end;
    }
  }

 private:
  static constexpr std::int64_t kMost = 16;

  /// Of `count` channels beside each other from `c` on, at column w. A whole block has no
  /// condition.
  template <std::int64_t kCount>
  TY_HD void sum(const Strip& strip, std::int64_t c, std::int64_t w, std::int64_t count,
                 A (&total)[kCount]) const {
    if (count == kCount) return add_rows<kCount>(strip, c, w, kCount, total);
    add_rows<kCount>(strip, c, w, count, total);
  }
  template <std::int64_t kCount>
  TY_HD void add_rows(const Strip& strip, std::int64_t c, std::int64_t w, std::int64_t count,
                      A (&total)[kCount]) const {
    const Places& large = maps.large;
    for (std::int64_t k = 0; k < count; ++k) total[k] = 0;
    const std::int64_t first = maps.w.first(w), last = maps.w.last(w);
    for (std::int64_t row = maps.h.first(strip.h); row < maps.h.last(strip.h); ++row) {
      A line[kCount] = {};
      const T* from = dy + large.offset(strip.first.n, c, row, first);
      for (std::int64_t column = first; column < last; ++column, from += large.pixel_stride) {
        const A weight = static_cast<A>(maps.w.weight(w, column));
        for (std::int64_t k = 0; k < count; ++k) line[k] += weight * static_cast<A>(from[k]);
      }
      const A weight = static_cast<A>(maps.h.weight(strip.h, row));
      for (std::int64_t k = 0; k < count; ++k) total[k] += weight * line[k];
    }
  }
};

struct UpsampleAttributes {
  enum class Mode { nearest, bilinear } mode = Mode::nearest;
  config::Pair size{2, 2};  // factors
};

/// [n, c, h, w] to [n, c, h * size.h, w * size.w].
class UpsampleOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit UpsampleOp(UpsampleAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "upsample"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override { return {.layouts = Contract::Layouts::same}; }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const auto maps_of = [&](const Layout& small, const Layout& large) {
      const bool bilinear = attributes_.mode == UpsampleAttributes::Mode::bilinear;
      return UpsampleMaps{UpsampleAxis(small.extent[2], attributes_.size.h, bilinear),
                          UpsampleAxis(small.extent[3], attributes_.size.w, bilinear),
                          Places(small), Places(large)};
    };
    if (step.backward()) {
      const TensorView &dy = tensors.output_gradients[0], &dx = tensors.input_gradients[0];
      map_places<T>(launcher, dx, UpsampleGradient<T>{maps_of(dx.layout, dy.layout), dy.as<T>()});
      return;
    }
    const TensorView &x = tensors.inputs[0], &y = tensors.outputs[0];
    map_places<T>(launcher, y, UpsampleValue<T>{maps_of(x.layout, y.layout), x.as<T>()});
  }

 private:
  UpsampleAttributes attributes_;
};

void declare(config::Fields& fields, UpsampleAttributes& upsample);
[[nodiscard]] config::Kind<Op> upsample_kind();
[[nodiscard]] constexpr config::Words<UpsampleAttributes::Mode> words(UpsampleAttributes::Mode) {
  return {"nearest", "bilinear"};
}

}  // namespace trainyard
