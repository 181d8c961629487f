// Exchange of channels, height and width.
#pragma once

#include <array>
#include <string>

#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/places.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Which axis of the input (0: channels, 1: height, 2: width) each axis of the output is.
using AxisOrder = std::array<int, 3>;

/// out[n, axes] = in[n, those axes in the input's order].
template <class T>
struct PermutedCopy {
  const T* in;
  Places from;
  int source[3];  // by axis of the input: the axis of the output that it becomes

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

/// [n, c, h, w] to the same values with channels, height and width in another order.
class PermuteOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit PermuteOp(const AxisOrder& order) : order_(order) {}

  [[nodiscard]] std::string_view type() const override { return "permute"; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override { return {.layouts = Contract::Layouts::same}; }
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    const AxisOrder source = step.backward() ? order_ : inverse();
    map_places<T>(
        launcher, out,
        PermutedCopy<T>{in.as<T>(), Places(in.layout), {source[0], source[1], source[2]}});
  }

 private:
  [[nodiscard]] AxisOrder inverse() const;

  AxisOrder order_;
};

[[nodiscard]] config::Kind<Op> permute_kind();

}  // namespace trainyard
