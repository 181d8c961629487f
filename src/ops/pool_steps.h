// One value of each channel from the steps of a sequence, without those that a mask leaves out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/half.h"
#include "ops/functor_step.h"
#include "ops/op.h"
#include "ops/step_tensors.h"

namespace trainyard {

enum class StepPooling { average, maximum, last };
[[nodiscard]] constexpr config::Words<StepPooling> words(StepPooling) {
  return {"average", "maximum", "last"};
}

/// The steps of sequences [sample][step][channel], and which of them count.
template <class T>
struct CountedSteps {
  using A = Arithmetic<T>;
  const T* values;
  const std::int32_t* mask;  // [sample][step], 0: left out; null: all count
  std::int64_t steps, channels;
  std::int64_t sample_stride;  // of `values`

  [[nodiscard]] TY_HD bool counts(std::int64_t sample, std::int64_t step) const {
    return mask == nullptr || mask[sample * steps + step] != 0;
  }
  [[nodiscard]] TY_HD std::int64_t count(std::int64_t sample) const {
    std::int64_t found = 0;
    for (std::int64_t step = 0; step < steps; ++step) found += counts(sample, step) ? 1 : 0;
    return found;
  }
  /// -1: none counts.
  [[nodiscard]] TY_HD std::int64_t last(std::int64_t sample) const {
    std::int64_t step = steps - 1;
    while (step >= 0 && !counts(sample, step)) --step;
    return step;
  }
  /// The step of the largest value: the first of equal ones, the first NaN; -1: none counts.
  [[nodiscard]] TY_HD std::int64_t largest(std::int64_t sample, std::int64_t channel) const {
    std::int64_t best = -1;
    A top = A(0);
    for (std::int64_t step = 0; step < steps; ++step) {
      if (!counts(sample, step)) continue;
      const A value = at(sample, step, channel);
      if (best >= 0 && (top != top || value <= top)) continue;
      best = step;
      top = value;
    }
    return best;
  }
  [[nodiscard]] TY_HD A at(std::int64_t sample, std::int64_t step, std::int64_t channel) const {
    return static_cast<A>(values[sample * sample_stride + step * channels + channel]);
  }
};

/// y[sample][channel]; 0 where no step counts. A row is a sample.
template <class T>
struct PooledSteps {
  using A = Arithmetic<T>;
  StepPooling kind;
  CountedSteps<T> of;
  T* y;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    const bool average = kind == StepPooling::average;
    const std::int64_t one = average ? of.count(sample) : of.last(sample);
    T* const out = y + sample * of.channels;
    team.each(of.channels, [&](std::int64_t c) {
      out[c] = static_cast<T>(average ? mean(sample, c, one) : value(sample, c, one));
    });
  }

 private:
  TY_HD A mean(std::int64_t sample, std::int64_t channel, std::int64_t count) const {
    A sum = A(0);
    for (std::int64_t step = 0; step < of.steps; ++step) {
      if (of.counts(sample, step)) sum += of.at(sample, step, channel);
    }
    return count == 0 ? A(0) : sum / static_cast<A>(count);
  }
  TY_HD A value(std::int64_t sample, std::int64_t channel, std::int64_t last) const {
    const std::int64_t step = kind == StepPooling::maximum ? of.largest(sample, channel) : last;
    return step < 0 ? A(0) : of.at(sample, step, channel);
  }
};

/// dx[sample][step][channel]. A row is a sample.
template <class T>
struct PooledStepsGradient {
  using A = Arithmetic<T>;
  StepPooling kind;
  CountedSteps<T> of;
  const T* dy;
  T* dx;
  std::int64_t sample_stride;  // of dx

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    const bool average = kind == StepPooling::average;
    const std::int64_t one = average ? of.count(sample) : of.last(sample);
    const T* const in = dy + sample * of.channels;
    team.each(of.channels, [&](std::int64_t c) {
      const A gradient = static_cast<A>(in[c]);
      if (average) {
        spread(sample, c, one == 0 ? A(0) : gradient / static_cast<A>(one));
      } else {
        put(sample, c, kind == StepPooling::maximum ? of.largest(sample, c) : one, gradient);
      }
    });
  }

 private:
  TY_HD void set(std::int64_t sample, std::int64_t step, std::int64_t channel, A value) const {
    dx[sample * sample_stride + step * of.channels + channel] = static_cast<T>(value);
  }
  TY_HD void spread(std::int64_t sample, std::int64_t channel, A share) const {
    for (std::int64_t step = 0; step < of.steps; ++step) {
      set(sample, step, channel, of.counts(sample, step) ? share : A(0));
    }
  }
  TY_HD void put(std::int64_t sample, std::int64_t channel, std::int64_t at, A gradient) const {
    for (std::int64_t step = 0; step < of.steps; ++step) {
      set(sample, step, channel, step == at ? gradient : A(0));
    }
  }
};

struct PoolStepsAttributes {
  StepPooling kind = StepPooling::average;
  bool mask = false;  // a second input: steps where it is 0 do not count
};

/// A sequence [n, c, 1, t] to features [n, c]: the mean or the largest value of each channel over
/// the steps, or the last step. With a mask i32 [n, t] over the steps where it is not 0; 0 where
/// there are none. YAML name: pool_steps.
class PoolStepsOp final : public Op {
 public:
  static constexpr bool kElementwise = false;

  explicit PoolStepsOp(PoolStepsAttributes attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view type() const override { return "pool_steps"; }
  [[nodiscard]] int arity() const override { return attributes_.mask ? 2 : 1; }
  [[nodiscard]] Signature infer(std::span<const Shape> inputs) const override;
  [[nodiscard]] Contract contract() const override {
    return {.backward_reads_inputs = true,
            .masked = attributes_.mask,
            .layouts = Contract::Layouts::rows};
  }
  [[nodiscard]] std::unique_ptr<Op> with_mask() const override;
  [[nodiscard]] std::string attributes() const override;

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const Layout& in = step.inputs[0];
    const std::int64_t samples = in.extent[0];
    const CountedSteps<T> of{
        .values = tensors.inputs[0].as<const T>(),
        .mask = attributes_.mask ? tensors.inputs[1].as<const std::int32_t>() : nullptr,
        .steps = in.extent[3],
        .channels = in.extent[1],
        .sample_stride = in.stride[0]};
    if (!step.backward()) {
      launcher.rows(samples, PooledSteps<T>{attributes_.kind, of, tensors.outputs[0].as<T>()});
      return;
    }
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data == nullptr) return;  // the mask has none
    launcher.rows(samples, PooledStepsGradient<T>{attributes_.kind, of,
                                                  tensors.output_gradients[0].as<const T>(),
                                                  dx.as<T>(), dx.layout.stride[0]});
  }

 private:
  PoolStepsAttributes attributes_;
};

[[nodiscard]] config::Kind<Op> pool_steps_kind();

}  // namespace trainyard
