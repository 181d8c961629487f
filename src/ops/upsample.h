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
  std::int64_t input = 1, factor = 1;
  bool bilinear = false;

  /// Output = (1 - weight) * input[low] + weight * input[high].
  struct Taps {
    std::int64_t low, high;
    double weight;
  };
  [[nodiscard]] TY_HD Taps taps(std::int64_t output) const {
    if (!bilinear) return {output / factor, output / factor, 0};
    // In halves of an output pixel, so that it is exact: (output + 1/2) / factor - 1/2.
    const std::int64_t twice = 2 * output + 1 - factor;
    const std::int64_t from = twice > 0 ? twice : 0;
    const std::int64_t low = from / (2 * factor);
    const double weight = static_cast<double>(from - low * 2 * factor) / (2 * factor);
    return {low, low + 1 < input ? low + 1 : low, weight};
  }
  /// The weight of one input in an output.
  [[nodiscard]] TY_HD double weight(std::int64_t index, std::int64_t output) const {
    const Taps taps_ = taps(output);
    return (taps_.low == index ? 1 - taps_.weight : 0) + (taps_.high == index ? taps_.weight : 0);
  }
  /// The outputs [first, last) that may use an input.
  [[nodiscard]] TY_HD std::int64_t first(std::int64_t index) const {
    const std::int64_t from = bilinear ? index - 1 : index;
    return from > 0 ? from * factor : 0;
  }
  [[nodiscard]] TY_HD std::int64_t last(std::int64_t index) const {
    const std::int64_t to = bilinear ? index + 2 : index + 1;
    return (to < input ? to : input) * factor;
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

  TY_HD A operator()(const Place& at) const {
    const std::int64_t row = at.pixel / maps.large.width;
    const UpsampleAxis::Taps h = maps.h.taps(row);
    const UpsampleAxis::Taps w = maps.w.taps(at.pixel - row * maps.large.width);
    const auto value = [&](std::int64_t y, std::int64_t column) -> A {
      return x[maps.small.offset(at, y * maps.small.width + column)];
    };
    if (!maps.h.bilinear) return value(h.low, w.low);
    const A right = static_cast<A>(w.weight), below = static_cast<A>(h.weight);
    const A upper = value(h.low, w.low) * (A(1) - right) + value(h.low, w.high) * right;
    const A lower = value(h.high, w.low) * (A(1) - right) + value(h.high, w.high) * right;
    return upper * (A(1) - below) + lower * below;
  }
};

/// dx of an input pixel: the sum over the outputs that it is part of, in row-major order.
template <class T>
struct UpsampleGradient {
  using A = Arithmetic<T>;
  UpsampleMaps maps;
  const T* dy;

  TY_HD A operator()(const Place& at) const {
    const std::int64_t h = at.pixel / maps.small.width, w = at.pixel - h * maps.small.width;
    A total = 0;
    for (std::int64_t row = maps.h.first(h); row < maps.h.last(h); ++row) {
      A line = 0;
      for (std::int64_t column = maps.w.first(w); column < maps.w.last(w); ++column) {
        line += static_cast<A>(maps.w.weight(w, column)) *
                static_cast<A>(dy[maps.large.offset(at, row * maps.large.width + column)]);
      }
      total += static_cast<A>(maps.h.weight(h, row)) * line;
    }
    return total;
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
      return UpsampleMaps{{small.extent[2], attributes_.size.h, bilinear},
                          {small.extent[3], attributes_.size.w, bilinear},
                          Places(small),
                          Places(large)};
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
[[nodiscard]] std::span<const config::Word<UpsampleAttributes::Mode>> words(
    UpsampleAttributes::Mode);

}  // namespace trainyard
