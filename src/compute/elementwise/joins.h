// Branches joined: sum, mean, maximum, product and concatenation.
#pragma once

#include <array>
#include <tuple>

#include "compute/elementwise/channel_scale.h"
#include "compute/elementwise/functor_step.h"
#include "compute/elementwise/map.h"
#include "launcher/team.h"
#include "ops/joins.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// max(a + b, 0); NaN stays NaN, as in Relu.
struct SumRelu {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    const T sum = a + b;
    return sum < 0 ? T(0) : sum;
  }
};

/// dy where the output is above 0.
struct SumReluGradient {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T dy, T y) const {
    return y > 0 ? dy : T(0);
  }
};

struct AddFunctors : FunctorsOf<AddOp> {
  static constexpr std::array<std::string_view, 1> kOps{"add"};
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    if (step.backward()) return run_backward<T>(step, tensors, launcher);
    const TensorView& out = tensors.outputs[0];
    const std::size_t last = tensors.inputs.size() - 1;
    for (std::size_t i = 1; i <= last; ++i) {
      const TensorView& before = i == 1 ? tensors.inputs[0] : out;
      if (i == last && op.values().relu) {
        map<T>(launcher, step.walk, SumRelu{}, before, tensors.inputs[i], out);
      } else {
        map<T>(launcher, step.walk, Sum{}, before, tensors.inputs[i], out);
      }
    }
  }

 private:
  template <class T, class Launcher>
  void run_backward(const FunctorStep& step, const StepTensors& tensors,
                    const Launcher& launcher) const {
    const TensorView& dy = tensors.output_gradients[0];
    const TensorView& dx = shared_gradient(tensors);
    if (op.values().relu) {
      map<T>(launcher, step.walk, SumReluGradient{}, dy, tensors.outputs[0], dx);
    } else {
      map<T, T>(launcher, step.walk, Copy{}, dy, dx);
    }
  }
};

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

struct ConcatFunctors : FunctorsOf<ConcatOp> {
  static constexpr std::array<std::string_view, 1> kOps{"concat"};

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

struct MultiplyFunctors : FunctorsOf<MultiplyOp> {
  static constexpr std::array<std::string_view, 1> kOps{"multiply"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const std::size_t scaled = scaled_input(step);
    if (scaled < step.inputs.size()) return run_scaled<T>(step, tensors, launcher, scaled);
    if (step.backward()) return run_backward<T>(tensors, launcher);
    const TensorView& out = tensors.outputs[0];
    for (std::size_t i = 1; i < tensors.inputs.size(); ++i) {
      multiply<T>(launcher, i == 1 ? tensors.inputs[0] : out, tensors.inputs[i], out);
    }
  }

 private:
  /// The input that is scaled by the other; the number of inputs if all have one shape.
  static std::size_t scaled_input(const FunctorStep& step) {
    const auto pixels = [&](std::size_t i) {
      return step.inputs[i].extent[2] * step.inputs[i].extent[3];
    };
    if (step.inputs.size() != 2 || pixels(0) == pixels(1)) return step.inputs.size();
    return pixels(0) > pixels(1) ? 0 : 1;
  }

  template <class T, class Launcher>
  static void multiply(const Launcher& launcher, const TensorView& a, const TensorView& b,
                       const TensorView& out) {
    map<T>(launcher, plan_walk(std::array{a.layout, b.layout, out.layout}), Product{}, a, b, out);
  }

  template <class T, class Launcher>
  static void run_backward(const StepTensors& tensors, const Launcher& launcher) {
    const std::size_t count = tensors.inputs.size();
    for (std::size_t i = 0; i < count; ++i) {
      const TensorView& dx = tensors.input_gradients[i];
      if (dx.data == nullptr) continue;
      const TensorView* before = &tensors.output_gradients[0];
      for (std::size_t other = 0; other < count; ++other) {
        if (other == i) continue;
        multiply<T>(launcher, *before, tensors.inputs[other], dx);
        before = &dx;
      }
    }
  }

  template <class T, class Launcher>
  static void run_scaled(const FunctorStep& step, const StepTensors& tensors,
                         const Launcher& launcher, std::size_t scaled) {
    const TensorView &x = tensors.inputs[scaled], &factors = tensors.inputs[1 - scaled];
    if (!step.backward()) return scale_channels<T>(launcher, x, factors, tensors.outputs[0]);
    const TensorView& dy = tensors.output_gradients[0];
    const TensorView& dx = tensors.input_gradients[scaled];
    const TensorView& dfactors = tensors.input_gradients[1 - scaled];
    if (dx.data != nullptr) scale_channels<T>(launcher, dy, factors, dx);
    if (dfactors.data != nullptr) sum_channel_products<T>(launcher, dy, x, dfactors);
  }
};

/// (a + b) * factor.
struct ScaledSum {
  static constexpr bool kKeepsZero = true;
  double factor;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return (a + b) * static_cast<T>(factor);
  }
};

/// x * factor.
struct Scaled {
  static constexpr bool kKeepsZero = true;
  double factor;
  template <class T>
  TY_HD T operator()(T x) const {
    return x * static_cast<T>(factor);
  }
};

struct AverageFunctors : FunctorsOf<AverageOp> {
  static constexpr std::array<std::string_view, 1> kOps{"average"};
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const double factor = 1.0 / static_cast<double>(tensors.inputs.size());
    if (step.backward()) {
      map<T, T>(launcher, step.walk, Scaled{factor}, tensors.output_gradients[0],
                shared_gradient(tensors));
      return;
    }
    const TensorView& out = tensors.outputs[0];
    const std::size_t last = tensors.inputs.size() - 1;
    for (std::size_t i = 1; i <= last; ++i) {
      const TensorView& before = i == 1 ? tensors.inputs[0] : out;
      if (i == last) {
        map<T>(launcher, step.walk, ScaledSum{factor}, before, tensors.inputs[i], out);
      } else {
        map<T>(launcher, step.walk, Sum{}, before, tensors.inputs[i], out);
      }
    }
  }
};

/// The larger of two; NaN wins, so that it is not lost.
struct Larger {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return larger(a, b);
  }
};

/// The smaller of two; NaN wins.
struct Smaller {
  static constexpr bool kKeepsZero = true;
  template <class T>
  TY_HD T operator()(T a, T b) const {
    return a != a || a < b ? a : b;
  }
};

/// dx[o] = 0 where the other input wins: where it is larger (with kSmallest: smaller) or, if it is
/// an earlier branch, equal.
template <class T, bool kSmallest>
struct ExtremumLoss {
  T* dx;
  const T* own;
  const T* other;
  bool other_is_earlier;
  TY_HD void apply(std::int64_t o, std::int64_t i, std::int64_t j) const {
    const auto a = static_cast<Arithmetic<T>>(own[i]), b = static_cast<Arithmetic<T>>(other[j]);
    const bool wins = (kSmallest ? a < b : a > b) || (a == b && !other_is_earlier);
    dx[o] = wins ? dx[o] : T{};
  }
};

/// Functors of maximum and minimum.
template <class OpType, class Chosen, bool kSmallest>
struct ExtremumFunctors : FunctorsOf<OpType> {
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const std::size_t count = tensors.inputs.size();
    if (!step.backward()) {
      const TensorView& out = tensors.outputs[0];
      for (std::size_t i = 1; i < count; ++i) {
        const TensorView& before = i == 1 ? tensors.inputs[0] : out;
        map<T>(launcher, step.walk, Chosen{}, before, tensors.inputs[i], out);
      }
      return;
    }
    for (std::size_t i = 0; i < count; ++i) gradient<T>(step, tensors, launcher, i);
  }

 private:
  template <class T, class Launcher>
  static void gradient(const FunctorStep& step, const StepTensors& tensors,
                       const Launcher& launcher, std::size_t i) {
    const TensorView& dx = tensors.input_gradients[i];
    if (dx.data == nullptr) return;
    map<T, T>(launcher, step.walk, Copy{}, tensors.output_gradients[0], dx);
    const TensorView& own = tensors.inputs[i];
    for (std::size_t other = 0; other < tensors.inputs.size(); ++other) {
      if (other == i) continue;
      const TensorView& rival = tensors.inputs[other];
      const ExtremumLoss<T, kSmallest> loss{dx.as<T>(), own.as<T>(), rival.as<T>(), other < i};
      map_elements(launcher, step.walk, loss, dx.layout, own.layout, rival.layout);
    }
  }
};

struct MaximumFunctors : ExtremumFunctors<MaximumOp, Larger, false> {
  static constexpr std::array<std::string_view, 1> kOps{"maximum"};
};

struct MinimumFunctors : ExtremumFunctors<MinimumOp, Smaller, true> {
  static constexpr std::array<std::string_view, 1> kOps{"minimum"};
};

/// The functors above.
using JoinList = std::tuple<AddFunctors, ConcatFunctors, MultiplyFunctors, AverageFunctors,
                            MaximumFunctors, MinimumFunctors>;

}  // namespace trainyard
