// Values moved to other places: margins, slices, permutations, new shapes and tokens as vectors.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "base/half.h"
#include "compute/elementwise/element_index.h"
#include "compute/elementwise/functor_step.h"
#include "compute/elementwise/map.h"
#include "ops/shapes.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// out[n, c, h, w] = in[n, c + shift c, h + shift h, w + shift w], or `value` outside the input.
template <class T>
struct ShiftedCopy {
  const T* in;
  Places from;
  std::int64_t c, h, w;  // the shift
  Arithmetic<T> value;

  template <class Set>
  TY_HD void strip(const Strip& strip, const Set& set) const {
    const std::int64_t channel = strip.first.c + c, y = strip.h + h, x = strip.w + w;
    const bool row = y >= 0 && y * from.width < from.pixels;
    const bool other =
        strip.channels ? x >= 0 && x < from.width : channel >= 0 && channel < from.channels;
    const std::int64_t start = strip.channels ? channel : x;
    const std::int64_t left = (strip.channels ? from.channels : from.width) - start;
    // The part of the strip inside the input.
    const std::int64_t first = row && other ? start < 0 ? -start : 0 : strip.count;
    const std::int64_t begin = first < strip.count ? first : strip.count;
    const std::int64_t last = left < strip.count ? left : strip.count;
    const std::int64_t end = last > begin ? last : begin;
    const auto margin = [edge = value](std::int64_t) { return edge; };
    if (begin > 0) set(0, begin, margin);
    if (begin < end && strip.channels) {
      copy_channels(in, from, strip.first.n, channel + begin, y * from.width + x, begin, end, set);
    } else if (begin < end) {
      const T* const source = in + from.offset(strip.first.n, channel, y, x + begin);
      copy_run(source, from.pixel_stride, begin, end, set);
    }
    if (end < strip.count) set(end, strip.count, margin);
  }
};

/// Every step-th element along an axis, or, of the gradient, each of them back at its place and
/// zeros between them.
template <class T>
struct SteppedCopy {
  using A = Arithmetic<T>;
  const T* in;
  Places from;
  std::int64_t width;           // the output's
  std::int64_t first[3], step;  // c, h, w: where the slice begins
  int axis;                     // axis that has the step
  bool backward;

  /// The index in the input of an index in the output; -1: there is none.
  [[nodiscard]] TY_HD std::int64_t source(int along, std::int64_t at, std::int64_t extent) const {
    const std::int64_t by = along == axis ? step : 1;
    if (!backward) return first[along] + at * by;
    const std::int64_t off = at - first[along];
    return off >= 0 && off % by == 0 && off / by < extent ? off / by : -1;
  }
  TY_HD A operator()(const ElementIndex& at) const {
    const std::int64_t row = at.pixel / width;
    const std::int64_t c = source(0, at.c, from.channels);
    const std::int64_t h = source(1, row, from.pixels / from.width);
    const std::int64_t w = source(2, at.pixel - row * width, from.width);
    if (c < 0 || h < 0 || w < 0) return A(0);
    return in[from.offset(at.n, c, h * from.width + w)];
  }
};

struct ShiftFunctors : FunctorsOf<ShiftOp> {
  static constexpr std::array<std::string_view, 3> kOps{"pad", "crop", "slice"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const ShiftOp::Origin origin = op.origin_in(shape_of(step.inputs[0]));
    if (op.values().step > 1) {
      return map_indexed<T>(launcher, out,
                            SteppedCopy<T>{in.as<T>(),
                                           Places(in.layout),
                                           out.layout.extent[3],
                                           {origin.c, origin.h, origin.w},
                                           op.values().step,
                                           static_cast<int>(op.values().axis),
                                           step.backward()});
    }
    const std::int64_t sign = step.backward() ? -1 : 1;
    const double value = step.backward() ? 0 : op.values().value;
    map_indexed<T>(launcher, out,
                   ShiftedCopy<T>{in.as<T>(), Places(in.layout), sign * origin.c, sign * origin.h,
                                  sign * origin.w, static_cast<Arithmetic<T>>(value)});
  }
};

/// out[n, axes] = in[n, those axes in the input's order].
template <class T>
struct PermutedCopy {
  const T* in;
  Places from;
  int source[3];  // for each axis of the input, the axis of the output that it becomes

  template <class Set>
  TY_HD void strip(const Strip& strip, const Set& set) const {
    const std::int64_t index[3] = {strip.first.c, strip.h, strip.w};
    const std::int64_t n = strip.first.n, c = index[source[0]];
    const std::int64_t pixel = index[source[1]] * from.width + index[source[2]];
    const int along = strip.channels ? 0 : 2;  // the output's axis
    if (source[0] == along) return copy_channels(in, from, n, c, pixel, 0, strip.count, set);
    const std::int64_t step = (source[1] == along ? from.width : 1) * from.pixel_stride;
    copy_run(in + from.offset(n, c, pixel), step, 0, strip.count, set);
  }
};

struct PermuteFunctors : FunctorsOf<PermuteOp> {
  static constexpr std::array<std::string_view, 1> kOps{"permute"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const AxisOrder source = step.backward() ? op.order() : op.inverse();
    map_indexed<T>(
        launcher, out,
        PermutedCopy<T>{in.as<T>(), Places(in.layout), {source[0], source[1], source[2]}});
  }
};

/// The elements in memory order: of an op that changes the shape alone.
template <class Op>
struct ElementCopyFunctors : FunctorsOf<Op> {
  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& from = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& to = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const UnaryElement<Copy, T, T> element{Copy{}, to.as<T>(), from.as<T>()};
    map_runs(launcher, element, 1, span_elements(from.layout), {});
  }
};

struct ReshapeFunctors : ElementCopyFunctors<ReshapeOp> {
  static constexpr std::array<std::string_view, 1> kOps{"reshape"};
};

struct FlattenFunctors : ElementCopyFunctors<FlattenOp> {
  static constexpr std::array<std::string_view, 1> kOps{"flatten"};
};

/// y[position][c] = 1 if c is the token, else 0; all 0 for a token that is none. A row is a
/// position.
template <class T>
struct OneHotRows {
  const std::int32_t* tokens;  // [positions]
  T* y;                        // [positions, vocabulary]
  std::int64_t vocabulary;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t position) const {
    const std::int64_t token = tokens[position];
    T* const out = y + position * vocabulary;
    team.each(vocabulary,
              [&](std::int64_t c) { out[c] = static_cast<T>(Arithmetic<T>(c == token ? 1 : 0)); });
  }
};

struct OneHotFunctors : FunctorsOf<OneHotOp> {
  static constexpr std::array<std::string_view, 1> kOps{"one_hot"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return;  // tokens have no gradient, and none is requested
    launcher.rows(shape_of(step.inputs[0]).elements(),
                  OneHotRows<T>{tensors.inputs[0].as<const std::int32_t>(),
                                tensors.outputs[0].as<T>(), op.vocabulary()});
  }
};

/// One axis: which inputs an output is made of. Bilinear: the centres of the outputs lie evenly
/// between those of the inputs, and the edge is repeated (PyTorch with align_corners false, Keras).
struct UpsampleAxis {
  std::int64_t input, factor;
  bool bilinear;
  Divisor by_factor, by_period;  // divisors by `factor` and its double

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

  /// Sums `count` adjacent channels from `c` on, at column w. A whole block has no condition.
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

struct UpsampleFunctors : FunctorsOf<UpsampleOp> {
  static constexpr std::array<std::string_view, 1> kOps{"upsample"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const auto maps_of = [&](const Layout& small, const Layout& large) {
      const bool bilinear = op.values().mode == UpsampleAttributes::Mode::bilinear;
      return UpsampleMaps{UpsampleAxis(small.extent[2], op.values().size.h, bilinear),
                          UpsampleAxis(small.extent[3], op.values().size.w, bilinear),
                          Places(small), Places(large)};
    };
    if (step.backward()) {
      const TensorView &dy = tensors.output_gradients[0], &dx = tensors.input_gradients[0];
      map_indexed<T>(launcher, dx, UpsampleGradient<T>{maps_of(dx.layout, dy.layout), dy.as<T>()});
      return;
    }
    const TensorView &x = tensors.inputs[0], &y = tensors.outputs[0];
    map_indexed<T>(launcher, y, UpsampleValue<T>{maps_of(x.layout, y.layout), x.as<T>()});
  }
};

/// The functors above.
using ShapeList = std::tuple<ShiftFunctors, PermuteFunctors, ReshapeFunctors, FlattenFunctors,
                             OneHotFunctors, UpsampleFunctors>;

}  // namespace trainyard
