// Part of a map, or a map with a margin: crop, slice and pad.
#pragma once

#include <string>

#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/places.h"
#include "ops/step_tensors.h"
#include "ops/window.h"

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

enum class MapAxis { channels, height, width };
[[nodiscard]] constexpr config::Words<MapAxis> words(MapAxis) {
  return {"channels", "height", "width"};
}

struct ShiftAttributes {
  enum class Kind { pad, crop, slice } kind = Kind::pad;
  Margins margins;                   // added by pad, removed by crop
  double value = 0;                  // of the margin that pad adds
  MapAxis axis = MapAxis::channels;  // slice
  std::int64_t begin = 0;            // slice; below 0: from the end
  std::int64_t end = 0;              // slice; 0 or below: from the end
};

/// [n, c, h, w] to a smaller or larger map; slice also [n, c] to fewer channels. YAML names: pad,
/// crop, slice.
class ShiftOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit ShiftOp(ShiftAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override;
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    const bool of_channels =
        attributes_.kind == ShiftAttributes::Kind::slice && attributes_.axis == MapAxis::channels;
    return {.keeps_steps = of_channels, .layouts = Contract::Layouts::same};
  }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const Origin origin = origin_in(shape_of(step.inputs[0]));
    const std::int64_t sign = step.backward() ? -1 : 1;
    const double value = step.backward() ? 0 : attributes_.value;
    map_places<T>(launcher, out,
                  ShiftedCopy<T>{in.as<T>(), Places(in.layout), sign * origin.c, sign * origin.h,
                                 sign * origin.w, static_cast<Arithmetic<T>>(value)});
  }

 private:
  /// Where the output's first element is in the input.
  struct Origin {
    std::int64_t c = 0, h = 0, w = 0;
  };
  [[nodiscard]] Origin origin_in(const Shape& input) const;
  /// The first element of a slice along its axis, and one past the last.
  struct Range {
    std::int64_t first, last;
  };
  [[nodiscard]] Range range_in(const Shape& input) const;
  [[nodiscard]] Shape sliced(const Shape& input) const;
  [[nodiscard]] Shape with_margins(const Shape& input) const;

  ShiftAttributes attributes_;
};

[[nodiscard]] config::Kind<Op> pad_kind();
[[nodiscard]] config::Kind<Op> crop_kind();
[[nodiscard]] config::Kind<Op> slice_kind();

}  // namespace trainyard
