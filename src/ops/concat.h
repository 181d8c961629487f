// Concatenation along channels.
#pragma once

#include <array>

#include "ops/elementwise.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// Copies channels of one tensor to channels of another, in layouts whose blocks do not align. A
/// row is the elements along w at one n, channel, h.
template <class T>
struct ChannelCopy {
  T* to;
  const T* from;
  Layout to_layout, from_layout;
  std::int64_t to_first, from_first;  // channels
  std::int64_t channels;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t h = row % to_layout.extent[2], c = row / to_layout.extent[2] % channels;
    const std::int64_t n = row / to_layout.extent[2] / channels;
    T* const out = to + to_layout.offset(n, to_first + c, h, 0);
    const T* const in = from + from_layout.offset(n, from_first + c, h, 0);
    team.each(to_layout.extent[3], [&](std::int64_t w) {
      out[w * to_layout.stride[3]] = in[w * from_layout.stride[3]];
    });
  }
};

/// [n, c_i, h, w] to [n, sum of c_i, h, w], or [n, c_i] to [n, sum of c_i], in the order of the
/// inputs. All other extents must be equal. Backward copies the slices of the gradient.
class ConcatOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  [[nodiscard]] std::string_view type() const override { return "concat"; }
  [[nodiscard]] int arity() const override { return -1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& whole = step.backward() ? tensors.output_gradients[0] : tensors.outputs[0];
    const auto& parts = step.backward() ? tensors.input_gradients : tensors.inputs;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].data != nullptr) copy_part<T>(launcher, step, whole, first, parts[i]);
      first += step.inputs[i].extent[1];
    }
    if (!step.backward()) zero_padding<T>(launcher, whole);
  }

 private:
  template <class T, class Launcher>
  static void copy_part(const Launcher& launcher, const FunctorStep& step, const TensorView& whole,
                        std::int64_t first, const TensorView& part) {
    const std::int64_t channels = part.layout.extent[1], block = whole.layout.block;
    if (first % block != 0 || channels % block != 0 || part.layout.block != block) {
      return copy_channels<T>(launcher, step, whole, first, part);
    }
    TensorView slice = whole;
    slice.layout = channel_slice(whole.layout, first, channels);
    slice.data = whole.as<T>() + whole.layout.offset(0, first, 0, 0);
    const Walk walk = plan_walk(std::array{slice.layout, part.layout});
    if (step.backward()) {
      map<T, T>(launcher, walk, Copy{}, slice, part);
    } else {
      map<T, T>(launcher, walk, Copy{}, part, slice);
    }
  }
  template <class T, class Launcher>
  static void copy_channels(const Launcher& launcher, const FunctorStep& step,
                            const TensorView& whole, std::int64_t first, const TensorView& part) {
    const std::int64_t channels = part.layout.extent[1];
    const std::int64_t rows = part.layout.extent[0] * channels * part.layout.extent[2];
    if (step.backward()) {
      launcher.rows(rows, ChannelCopy<T>{part.as<T>(), whole.as<T>(), part.layout, whole.layout, 0,
                                         first, channels});
      zero_padding<T>(launcher, part);
    } else {
      launcher.rows(rows, ChannelCopy<T>{whole.as<T>(), part.as<T>(), whole.layout, part.layout,
                                         first, 0, channels});
    }
  }
};

[[nodiscard]] config::Kind<Op> concat_kind();

}  // namespace trainyard
