// Functors of sequences: a learned vector for each token, and one value of each channel from the
// steps that a mask keeps.
#pragma once

#include <array>
#include <cstdint>
#include <tuple>

#include "base/half.h"
#include "compute/elementwise/functor_step.h"
#include "ops/sequence.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// y[position] = weight[token]; NaN for a token that is none. A row is a position.
template <class T>
struct EmbeddingRows {
  const std::int32_t* tokens;   // [positions]
  const Arithmetic<T>* weight;  // [vocabulary, units]
  T* y;                         // [positions, units]
  std::int64_t vocabulary, units;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t position) const {
    const std::int64_t token = tokens[position];
    const bool known = token >= 0 && token < vocabulary;
    const Arithmetic<T>* const vector = weight + (known ? token : 0) * units;
    T* const out = y + position * units;
    team.each(units, [&](std::int64_t c) {
      out[c] = static_cast<T>(known ? vector[c] : math::kNotANumber<Arithmetic<T>>);
    });
  }
};

/// Where each token occurs: a counting sort of the positions by their tokens, in which those of one
/// token keep their order. A row sorts the positions of one range of tokens, one after the other,
/// so the result does not depend on how rows run: launcher.rows(kRanges, OccurrenceSort{...}).
struct OccurrenceSort {
  static constexpr std::int64_t kRanges = 64;

  const std::int32_t* tokens;  // [positions]
  std::int64_t positions, vocabulary;
  std::int32_t* order;  // [positions], those of tokens outside the vocabulary left out
  std::int32_t* ends;   // [vocabulary]: token v occurs at order[ends[v - 1]] up to order[ends[v]]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t range) const {
    const std::int64_t first = range * vocabulary / kRanges;
    const std::int64_t last = (range + 1) * vocabulary / kRanges;
    const std::int32_t before =
        team.template sum<std::int32_t>(positions, [&](std::int64_t p) -> std::int32_t {
          return tokens[p] >= 0 && tokens[p] < first ? 1 : 0;
        });
    team.once([&] { sort(first, last, before); });
  }

 private:
  TY_HD void sort(std::int64_t first, std::int64_t last, std::int32_t before) const {
    for (std::int64_t v = first; v < last; ++v) ends[v] = 0;
    for (std::int64_t p = 0; p < positions; ++p) {
      if (tokens[p] >= first && tokens[p] < last) ++ends[tokens[p]];
    }
    std::int32_t begin = before;
    for (std::int64_t v = first; v < last; ++v) {
      const std::int32_t count = ends[v];
      ends[v] = begin;
      begin += count;
    }
    for (std::int64_t p = 0; p < positions; ++p) {
      if (tokens[p] >= first && tokens[p] < last) {
        order[ends[tokens[p]]++] = static_cast<std::int32_t>(p);
      }
    }
  }
};

/// dweight[v] = the sum of dy over the positions of token v, in their order; 0 if there are none. A
/// row is a token.
template <class T>
struct EmbeddingGradient {
  using A = Arithmetic<T>;
  static constexpr std::int64_t kTogether = 8;  // loads that do not wait for each other

  const T* dy;                // [positions, units]
  const std::int32_t* order;  // order by OccurrenceSort
  const std::int32_t* ends;
  A* dweight;  // [vocabulary, units]
  std::int64_t units;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t token) const {
    A* const out = dweight + token * units;
    std::int64_t k = token == 0 ? 0 : ends[token - 1];
    const std::int64_t end = ends[token];
    team.each(units, [&](std::int64_t c) { out[c] = A(0); });
    for (; k + kTogether <= end; k += kTogether) add<kTogether>(team, k, out);
    for (; k < end; ++k) add<1>(team, k, out);
  }

 private:
  template <std::int64_t Count, class Team>
  TY_HD void add(const Team& team, std::int64_t first, A* out) const {
    const T* rows[Count];
    for (std::int64_t i = 0; i < Count; ++i) rows[i] = dy + order[first + i] * units;
    team.each(units, [&](std::int64_t c) {
      A sum = out[c];
      for (std::int64_t i = 0; i < Count; ++i) sum += static_cast<A>(rows[i][c]);
      out[c] = sum;
    });
  }
};

struct EmbeddingFunctors : FunctorsOf<EmbeddingOp> {
  static constexpr std::array<std::string_view, 1> kOps{"embedding"};

  /// The order and the ends of OccurrenceSort.
  template <class T>
  [[nodiscard]] std::size_t workspace_bytes(const FunctorStep& step) const {
    return step.backward() ? op.sort_bytes(shape_of(step.inputs[0])) : 0;
  }

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    using A = Arithmetic<T>;
    const std::int64_t units = op.values().units, vocabulary = op.values().vocabulary;
    const std::int64_t positions = shape_of(step.inputs[0]).elements();
    const auto* const tokens = tensors.inputs[0].as<const std::int32_t>();
    if (!step.backward()) {
      return launcher.rows(positions,
                           EmbeddingRows<T>{tokens, tensors.parameters[0].as<const A>(),
                                            tensors.outputs[0].as<T>(), vocabulary, units});
    }
    auto* const order = static_cast<std::int32_t*>(tensors.workspace);
    std::int32_t* const ends = order + positions;
    launcher.rows(OccurrenceSort::kRanges,
                  OccurrenceSort{tokens, positions, vocabulary, order, ends});
    launcher.rows(vocabulary,
                  EmbeddingGradient<T>{tensors.output_gradients[0].as<const T>(), order, ends,
                                       tensors.parameter_gradients[0].as<A>(), units});
  }
};

/// The steps of sequences [sample][step][channel], and which of them count.
template <class T>
struct CountedSteps {
  using A = Arithmetic<T>;
  const T* values;
  const std::int32_t* mask;  // [sample][step], 0: left out; null: all count
  std::int64_t steps, channels;
  std::int64_t sample_stride;  // stride of `values`

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
  std::int64_t sample_stride;  // stride of dx

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

struct PoolStepsFunctors : FunctorsOf<PoolStepsOp> {
  static constexpr std::array<std::string_view, 1> kOps{"pool_steps"};

  template <class T, class Launcher>
  void run(const FunctorStep& step, const StepTensors& tensors, const Launcher& launcher) const {
    const Layout& in = step.inputs[0];
    const std::int64_t samples = in.extent[0];
    const CountedSteps<T> of{
        .values = tensors.inputs[0].as<const T>(),
        .mask = op.values().mask ? tensors.inputs[1].as<const std::int32_t>() : nullptr,
        .steps = in.extent[3],
        .channels = in.extent[1],
        .sample_stride = in.stride[0]};
    if (!step.backward()) {
      launcher.rows(samples, PooledSteps<T>{op.values().kind, of, tensors.outputs[0].as<T>()});
      return;
    }
    const TensorView& dx = tensors.input_gradients[0];
    if (dx.data == nullptr) return;  // the mask has none
    launcher.rows(samples, PooledStepsGradient<T>{op.values().kind, of,
                                                  tensors.output_gradients[0].as<const T>(),
                                                  dx.as<T>(), dx.layout.stride[0]});
  }
};

/// The functors above.
using SequenceList = std::tuple<EmbeddingFunctors, PoolStepsFunctors>;

}  // namespace trainyard
