// Dropout of elements, channels and samples, and normal noise.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>

#include "base/normal.h"
#include "compute/elementwise/draws.h"
#include "compute/elementwise/element_index.h"
#include "compute/elementwise/functor_step.h"
#include "ops/dropout.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The mask of a layer's step.
[[nodiscard]] inline DropoutMask mask_of(const DropOp& op, const FunctorStep& step,
                                         const StepTensors& tensors) {
  return {.batch = tensors.batch, .node = step.node, .threshold = drop_threshold(op.values().rate)};
}
/// The factor of what is kept.
template <class A>
[[nodiscard]] A kept_scale(const DropOp& op) {
  return static_cast<A>(1.0 / (1.0 - op.values().rate));
}

/// Kept and scaled if the draw is at least the threshold, else 0.
template <class T>
struct Dropping {
  std::uint32_t threshold;
  Arithmetic<T> scale;
  TY_HD T operator()(T value, std::uint32_t drawn) const {
    const T kept = static_cast<T>(value * scale);
    return drawn >= threshold ? kept : T{};
  }
};

struct DropoutFunctors : FunctorsOf<DropoutOp> {
  static constexpr std::array<std::string_view, 1> kOps{"dropout"};
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    if (step.pass == Pass::forward_eval) {
      map<T, T>(launcher, step.walk, Copy{}, in, out);
      return;
    }
    const DropoutMask drawn = mask_of(op, step, tensors);
    const Dropping<T> dropping{drawn.threshold, kept_scale<Arithmetic<T>>(op)};
    change_by_draws<T>(launcher, drawn, dropping, in, out);
  }
};

/// The factor of each group of channels of each sample: 0 or `scale`. Four neighbouring groups
/// share a draw. Call i is for group i % groups of sample i / groups.
template <class A>
struct GroupFactor {
  DropoutMask mask;
  std::int64_t groups;
  A scale;
  A* factors;  // [n, groups]

  TY_HD void operator()(std::int64_t i) const {
    const std::int64_t n = i / groups, group = i - n * groups;
    const std::uint32_t word = DropoutMask::word(mask.sample(n), static_cast<std::uint32_t>(group));
    factors[i] = word >= mask.threshold ? scale : A(0);
  }
};

/// y = x * factor of the group; one that is dropped is 0 whatever it holds.
template <class T>
struct GroupProduct {
  using A = Arithmetic<T>;
  const T* x;
  const A* factors;     // [n, groups]
  std::int64_t groups;  // each channel is one, or all are
  Places from;
  TY_HD A operator()(const ElementIndex& at) const {
    const A factor = factors[at.n * groups + (groups > 1 ? at.c : 0)];
    const A value = x[from.offset(at, at.pixel)];
    return factor == 0 ? A(0) : value * factor;
  }
};

/// What drops groups of channels of a sample: each channel, or all of them.
template <class Op>
struct GroupDropFunctors : FunctorsOf<Op> {
  using FunctorsOf<Op>::op;
  static constexpr bool kElementwise = false;

  /// The factors.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return static_cast<std::size_t>(step.inputs[0].extent[0] * groups_of(step)) *
           sizeof(Arithmetic<T>);
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    DropoutMask drawn = mask_of(op, step, tensors);
    const bool drops = step.pass != Pass::forward_eval;
    if (!drops) drawn.threshold = 0;
    A* const factors = static_cast<A*>(tensors.workspace);
    const std::int64_t groups = groups_of(step);
    launcher.each(in.layout.extent[0] * groups,
                  GroupFactor<A>{drawn, groups, drops ? kept_scale<A>(op) : A(1), factors});
    map_indexed<T>(launcher, out, GroupProduct<T>{in.as<T>(), factors, groups, Places(in.layout)});
  }

 private:
  [[nodiscard]] static std::int64_t groups_of(const FunctorStep& step) {
    return std::is_same_v<Op, DropPathOp> ? 1 : step.inputs[0].extent[1];
  }
};

struct SpatialDropoutFunctors : GroupDropFunctors<SpatialDropoutOp> {
  static constexpr std::array<std::string_view, 1> kOps{"spatial_dropout"};
};

struct DropPathFunctors : GroupDropFunctors<DropPathOp> {
  static constexpr std::array<std::string_view, 1> kOps{"drop_path"};
};

/// x + deviation * z with z from a standard normal distribution.
template <class T>
struct Noisy {
  using A = Arithmetic<T>;
  A deviation;
  TY_HD T operator()(T x, std::uint32_t drawn) const {
    return static_cast<T>(static_cast<A>(x) + deviation * math::normal_of<A>(drawn));
  }
};

struct GaussianNoiseFunctors : FunctorsOf<GaussianNoiseOp> {
  static constexpr std::array<std::string_view, 1> kOps{"gaussian_noise"};
  static constexpr bool kElementwise = true;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const TensorView& in = step.backward() ? tensors.output_gradients[0] : tensors.inputs[0];
    const TensorView& out = step.backward() ? tensors.input_gradients[0] : tensors.outputs[0];
    if (step.pass != Pass::forward_train) {
      map<T, T>(launcher, step.walk, Copy{}, in, out);
      return;
    }
    const DropoutMask mask{.batch = tensors.batch, .node = step.node, .threshold = 0};
    const Noisy<T> noisy{static_cast<Arithmetic<T>>(op.values().stddev)};
    change_by_draws<T>(launcher, mask, noisy, in, out);
  }
};

/// The functors above.
using DropoutList =
    std::tuple<DropoutFunctors, SpatialDropoutFunctors, DropPathFunctors, GaussianNoiseFunctors>;

}  // namespace trainyard
