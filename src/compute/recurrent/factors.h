// What the matrix products of recurrent layers read (recurrent.h), and their input's gradient, as
// functors. T is the storage type of activations, F the type in which the products read their
// factors: T, or Arithmetic<T> with values rounded to T.
//
// All memory is step by step: row s * samples + n is sample n in step s.
#pragma once

#include <cstdint>

#include "compute/elementwise/draws.h"

namespace trainyard {

/// The sizes of a recurrent layer in one pass. With dropout, or a reset gate before the product,
/// each gate has factors and products of its own: `copies` is then the number of gates, else 1.
struct RecurrentSizes {
  std::int64_t samples = 1, steps = 1, channels = 1, units = 1, gates = 1, copies = 1;

  [[nodiscard]] TY_HD std::int64_t rows() const { return samples * steps; }
  /// Columns of one product: those of all gates, or of one.
  [[nodiscard]] TY_HD std::int64_t width() const { return gates / copies * units; }
  /// Elements from one step to the next of values of the gates: [copy][step][sample][width].
  [[nodiscard]] TY_HD std::int64_t gate_step() const { return samples * width(); }
  /// Elements from one step to the next of states: [step][sample][units].
  [[nodiscard]] TY_HD std::int64_t state_step() const { return samples * units; }
  /// Elements from gate to gate of values for `of_rows` rows.
  [[nodiscard]] TY_HD std::int64_t gate_stride(std::int64_t of_rows) const {
    return copies == 1 ? units : of_rows * units;
  }
  /// The values of a gate for row `row` of them.
  [[nodiscard]] TY_HD std::int64_t gate_offset(std::int64_t gate, std::int64_t row,
                                               std::int64_t of_rows) const {
    return row * width() + gate * gate_stride(of_rows);
  }
};

/// Factors of a value: its product with what a mask has for each copy, rounded as T is stored.
template <class T, class F>
TY_HD F factor_of(Arithmetic<T> value) {
  return static_cast<F>(static_cast<T>(value));
}

template <class A>
struct RecurrentZeros {
  A* values;
  TY_HD void operator()(std::int64_t i) const { values[i] = A{}; }
};

/// Weights as factors.
template <class T, class F>
struct RoundedWeights {
  const Arithmetic<T>* from;
  F* to;
  TY_HD void operator()(std::int64_t i) const { to[i] = factor_of<T, F>(from[i]); }
};

/// Dropout masks [gate][sample][width] of zeros and 1 / (1 - rate). A row is a sample of a gate.
template <class A>
struct RecurrentMask {
  A* mask;
  std::int64_t samples, width;
  std::int64_t first;  // position of the first draw of a sample
  DropoutMask drawn;
  A scale;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const DropoutMask::Sample sample = drawn.sample(row % samples);
    const std::int64_t before = first + row / samples * width;
    A* const out = mask + row * width;
    team.each(width, [&](std::int64_t i) {
      const std::uint32_t word = DropoutMask::word(sample, static_cast<std::uint32_t>(before + i));
      out[i] = word >= drawn.threshold ? scale : A(0);
    });
  }
};

/// The input, or its gradient, of a layer: [sample][step][channel] where the layer's steps may run
/// backwards.
template <class Element>
struct RecurrentInput {
  Element* values;
  std::int64_t sample_stride;
  bool backwards;
  [[nodiscard]] TY_HD Element* at(const RecurrentSizes& sizes, std::int64_t row) const {
    const std::int64_t step = row / sizes.samples, sample = row % sizes.samples;
    const std::int64_t position = backwards ? sizes.steps - 1 - step : step;
    return values + sample * sample_stride + position * sizes.channels;
  }
};

/// The tokens of a mask, step by step: [step][sample] of [sample][step]. One call per token.
struct RecurrentTokens {
  RecurrentSizes sizes;  // sizes of one channel
  RecurrentInput<const std::int32_t> input;
  std::int32_t* tokens;
  TY_HD void operator()(std::int64_t row) const { tokens[row] = *input.at(sizes, row); }
};

/// The factors of the input's products: [copy][step][sample][channel]. A row is a sample in a step.
template <class T, class F>
struct InputFactors {
  using A = Arithmetic<T>;
  RecurrentSizes sizes;
  RecurrentInput<const T> input;
  const A* mask;  // [copy][sample][channel], or null
  F* factors;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const T* const in = input.at(sizes, row);
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      F* const out = factors + (copy * sizes.rows() + row) * sizes.channels;
      if (mask == nullptr) {
        team.each(sizes.channels,
                  [&](std::int64_t c) { out[c] = factor_of<T, F>(static_cast<A>(in[c])); });
      } else {
        const A* const kept = mask + (copy * sizes.samples + row % sizes.samples) * sizes.channels;
        team.each(sizes.channels, [&](std::int64_t c) {
          out[c] = factor_of<T, F>(static_cast<A>(in[c]) * kept[c]);
        });
      }
    }
  }
};

/// The input's gradient from the products' [copy][step][sample][channel], added in the order of the
/// copies.
template <class T>
struct InputGradients {
  using A = Arithmetic<T>;
  RecurrentSizes sizes;
  const A* products;
  const A* mask;  // as InputFactors
  RecurrentInput<T> gradient;
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    T* const out = gradient.at(sizes, row);
    const std::int64_t copy_stride = sizes.rows() * sizes.channels;
    const A* const in = products + row * sizes.channels;
    if (mask == nullptr) {
      team.each(sizes.channels, [&](std::int64_t c) {
        A sum = in[c];
        for (std::int64_t copy = 1; copy < sizes.copies; ++copy) sum += in[copy * copy_stride + c];
        out[c] = static_cast<T>(sum);
      });
    } else {
      const std::int64_t mask_stride = sizes.samples * sizes.channels;
      const A* const kept = mask + row % sizes.samples * sizes.channels;
      team.each(sizes.channels, [&](std::int64_t c) {
        A sum = in[c] * kept[c];
        for (std::int64_t copy = 1; copy < sizes.copies; ++copy) {
          sum += in[copy * copy_stride + c] * kept[copy * mask_stride + c];
        }
        out[c] = static_cast<T>(sum);
      });
    }
  }
};

}  // namespace trainyard
