// The arithmetic of recurrent layers between their matrix products (recurrent.h), as functors. T
// and F are as in factors.h. A row of a functor is one sample in one step.
#pragma once

#include <cstdint>

#include "compute/recurrent/factors.h"
#include "ops/activation.h"
#include "ops/recurrent.h"

namespace trainyard {

/// The new state of a step: where it goes. Null: not needed.
template <class T, class F>
struct NewState {
  using A = Arithmetic<T>;
  A* state;                    // [sample][unit]
  F* factors;                  // input of the next step's product, [copy][step][sample][unit]
  const A* mask;               // mask of the factors, [copy][sample][unit]
  T* output;                   // this step's
  std::int64_t output_stride;  // from sample to sample

  template <class Team>
  TY_HD void put_out(const Team& team, const RecurrentSizes& sizes, std::int64_t sample) const {
    const A* const h = state + sample * sizes.units;
    if (output != nullptr) {
      T* const out = output + sample * output_stride;
      team.each(sizes.units, [&](std::int64_t u) { out[u] = static_cast<T>(h[u]); });
    }
    if (factors == nullptr) return;
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      F* const out = factors + (copy * sizes.rows() + sample) * sizes.units;
      if (mask == nullptr) {
        team.each(sizes.units, [&](std::int64_t u) { out[u] = factor_of<T, F>(h[u]); });
      } else {
        const A* const kept = mask + (copy * sizes.samples + sample) * sizes.units;
        team.each(sizes.units, [&](std::int64_t u) { out[u] = factor_of<T, F>(h[u] * kept[u]); });
      }
    }
  }
};

/// The gradient of a step's state: what the next step's products and the output's gradient add to
/// what is there, in that order.
template <class T>
struct StateGradient {
  using A = Arithmetic<T>;
  A* state;           // [sample][unit]
  const A* products;  // [copy][sample][unit]
  const A* mask;      // as NewState
  const T* output;    // the output's gradient of this step, or null
  std::int64_t output_stride;

  template <class Team>
  TY_HD void collect(const Team& team, const RecurrentSizes& sizes, std::int64_t sample) const {
    A* const sum = state + sample * sizes.units;
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      const std::int64_t at = (copy * sizes.samples + sample) * sizes.units;
      const A* const in = products + at;
      if (mask == nullptr) {
        team.each(sizes.units, [&](std::int64_t u) { sum[u] += in[u]; });
      } else {
        const A* const kept = mask + at;
        team.each(sizes.units, [&](std::int64_t u) { sum[u] += in[u] * kept[u]; });
      }
    }
    if (output == nullptr) return;
    const T* const out = output + sample * output_stride;
    team.each(sizes.units, [&](std::int64_t u) { sum[u] += static_cast<A>(out[u]); });
  }
};

/// What the functors of a step share. Values of gates are [copy][step][sample][width].
template <class T>
struct CellTimeStep {
  using A = Arithmetic<T>;
  using Gates = RecurrentAttributes::Gates;
  using Activation = RecurrentAttributes::Activation;
  RecurrentSizes sizes;
  Gates gate_kind;
  Activation activation;
  A* gates;                    // this step's
  const std::int32_t* tokens;  // this step's, [sample]; null: no step is left out

  /// True if the step leaves the sample's state as it is.
  [[nodiscard]] TY_HD bool skips(std::int64_t sample) const {
    return tokens != nullptr && tokens[sample] == 0;
  }
  [[nodiscard]] TY_HD std::int64_t at(std::int64_t sample) const {
    return sizes.gate_offset(0, sample, sizes.rows());
  }
  [[nodiscard]] TY_HD std::int64_t stride() const { return sizes.gate_stride(sizes.rows()); }
  /// Zeros for all gates of a sample.
  template <class Team, class F>
  TY_HD void zero_gates(const Team& team, F* values, std::int64_t sample) const {
    for (std::int64_t gate = 0; gate < sizes.gates; ++gate) {
      F* const of_gate = values + at(sample) + gate * stride();
      team.each(sizes.units, [&](std::int64_t u) { of_gate[u] = F{}; });
    }
  }
  /// cell.compute<function of the gates, activation>(team, sample).
  template <class Cell, class Team>
  TY_HD void compute(const Cell& cell, const Team& team, std::int64_t sample) const {
    const bool relu = activation == Activation::relu;
    if (gate_kind == Gates::sigmoid) {
      relu ? cell.template compute<Sigmoid, Relu>(team, sample)
           : cell.template compute<Sigmoid, Tanh>(team, sample);
    } else {
      relu ? cell.template compute<HardSigmoid, Relu>(team, sample)
           : cell.template compute<HardSigmoid, Tanh>(team, sample);
    }
  }
};

/// What a forward step adds to the input's part of the gates, which is already there.
template <class T>
struct CellSums {
  using A = Arithmetic<T>;
  const A* products;  // products of the state: [copy][sample][width]
  const A* bias;      // [gates * units]
};

/// The sum of one gate for unit `u`, of values that are `stride` apart from gate to gate.
template <class A>
struct GateSums {
  const A* inputs;
  const A* products;
  const A* bias;
  std::int64_t stride, product_stride, units;
  [[nodiscard]] TY_HD A of_input(std::int64_t gate, std::int64_t u) const {
    return inputs[gate * stride + u] + bias[gate * units + u];
  }
  [[nodiscard]] TY_HD A of_state(std::int64_t gate, std::int64_t u) const {
    return products[gate * product_stride + u];
  }
  [[nodiscard]] TY_HD A operator()(std::int64_t gate, std::int64_t u) const {
    return of_input(gate, u) + of_state(gate, u);
  }
};
template <class T>
[[nodiscard]] TY_HD GateSums<Arithmetic<T>> gate_sums(const CellTimeStep<T>& step,
                                                      const CellSums<T>& sums,
                                                      std::int64_t sample) {
  const RecurrentSizes& sizes = step.sizes;
  return {step.gates + step.at(sample),
          sums.products + sizes.gate_offset(0, sample, sizes.samples),
          sums.bias,
          step.stride(),
          sizes.gate_stride(sizes.samples),
          sizes.units};
}

/// One unit of an lstm.
template <class A, class Gate, class Activation>
struct LstmUnit {
  GateSums<A> sums;
  A* gates;
  const A* before;
  A* cell;
  A* state;
  TY_HD void operator()(std::int64_t u) const {
    const Gate gate{};
    const Activation activation{};
    const A i = gate.value(sums(0, u)), f = gate.value(sums(1, u));
    const A g = activation.value(sums(2, u)), o = gate.value(sums(3, u));
    const A sum = f * before[u] + i * g;
    gates[u] = i;
    gates[sums.stride + u] = f;
    gates[2 * sums.stride + u] = g;
    gates[3 * sums.stride + u] = o;
    cell[u] = sum;
    state[u] = o * activation.value(sum);
  }
};

/// A step of an lstm. A step that is left out passes cell and state on. The gates' values overwrite
/// their sums; the cells of all steps are kept.
template <class T, class F>
struct LstmForward {
  using A = Arithmetic<T>;
  CellTimeStep<T> step;
  CellSums<T> sums;
  NewState<T, F> state;
  const A* before;  // cell before this step: [sample][unit]
  A* cell;          // after it

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    step.skips(sample) ? skip(team, sample) : step.compute(*this, team, sample);
    state.put_out(team, step.sizes, sample);
  }
  template <class Team>
  TY_HD void skip(const Team& team, std::int64_t sample) const {
    const A* const from = before + sample * step.sizes.units;
    A* const to = cell + sample * step.sizes.units;
    team.each(step.sizes.units, [&](std::int64_t u) { to[u] = from[u]; });
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = sample * step.sizes.units;
    team.each(step.sizes.units, LstmUnit<A, Gate, Activation>{
                                    gate_sums(step, sums, sample), step.gates + step.at(sample),
                                    before + first, cell + first, state.state + first});
  }
};

/// The gradient of one unit of an lstm.
template <class T, class F, class Gate, class Activation>
struct LstmUnitGradient {
  using A = Arithmetic<T>;
  const A* gates;
  F* sums;
  std::int64_t stride;  // stride of both, from gate to gate
  const A* before;
  const A* cell;
  A* state_gradient;
  A* cell_gradient;
  TY_HD void operator()(std::int64_t u) const {
    const Gate gate{};
    const Activation activation{};
    const A i = gates[u], f = gates[stride + u];
    const A g = gates[2 * stride + u], o = gates[3 * stride + u];
    const A outer = state_gradient[u], active = activation.value(cell[u]);
    const A inner = cell_gradient[u] + activation.gradient(outer * o, active);
    sums[u] = factor_of<T, F>(gate.gradient(inner * g, i));
    sums[stride + u] = factor_of<T, F>(gate.gradient(inner * before[u], f));
    sums[2 * stride + u] = factor_of<T, F>(activation.gradient(inner * i, g));
    sums[3 * stride + u] = factor_of<T, F>(gate.gradient(outer * active, o));
    cell_gradient[u] = inner * f;
    state_gradient[u] = A(0);
  }
};

/// The gradient of a step of an lstm: of the sums of its gates, and of the cell before it, which
/// overwrites that of the cell after it. The state's gradient is used up, unless the step is left
/// out.
template <class T, class F>
struct LstmBackward {
  using A = Arithmetic<T>;
  CellTimeStep<T> step;
  StateGradient<T> state;
  const A* before;
  const A* cell;
  A* cell_gradient;  // [sample][unit]
  F* sums;           // this step's, as the gates

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    state.collect(team, step.sizes, sample);
    step.skips(sample) ? step.zero_gates(team, sums, sample) : step.compute(*this, team, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = sample * step.sizes.units, at = step.at(sample);
    team.each(step.sizes.units, LstmUnitGradient<T, F, Gate, Activation>{
                                    step.gates + at, sums + at, step.stride(), before + first,
                                    cell + first, state.state + first, cell_gradient + first});
  }
};

/// One unit of a simple_rnn.
template <class A, class Activation>
struct SimpleRnnUnit {
  GateSums<A> sums;
  A* values;
  A* state;
  TY_HD void operator()(std::int64_t u) const {
    const A value = Activation{}.value(sums(0, u));
    values[u] = value;
    state[u] = value;
  }
};

/// A step of a simple_rnn. The state overwrites the sum that it is computed from.
template <class T, class F>
struct SimpleRnnForward {
  using A = Arithmetic<T>;
  CellTimeStep<T> step;
  CellSums<T> sums;
  NewState<T, F> state;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    if (!step.skips(sample)) step.compute(*this, team, sample);
    state.put_out(team, step.sizes, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    team.each(step.sizes.units, SimpleRnnUnit<A, Activation>{
                                    gate_sums(step, sums, sample), step.gates + step.at(sample),
                                    state.state + sample * step.sizes.units});
  }
};

/// The gradient of one unit of a simple_rnn.
template <class T, class F, class Activation>
struct SimpleRnnUnitGradient {
  using A = Arithmetic<T>;
  const A* values;
  A* state_gradient;
  F* sums;
  TY_HD void operator()(std::int64_t u) const {
    sums[u] = factor_of<T, F>(Activation{}.gradient(state_gradient[u], values[u]));
    state_gradient[u] = A(0);
  }
};

/// The gradient of its sum. The state's gradient is used up, unless the step is left out.
template <class T, class F>
struct SimpleRnnBackward {
  using A = Arithmetic<T>;
  CellTimeStep<T> step;
  StateGradient<T> state;
  F* sums;  // this step's, [sample][unit]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    state.collect(team, step.sizes, sample);
    step.skips(sample) ? step.zero_gates(team, sums, sample) : step.compute(*this, team, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t at = step.at(sample);
    team.each(step.sizes.units,
              SimpleRnnUnitGradient<T, F, Activation>{
                  step.gates + at, state.state + sample * step.sizes.units, sums + at});
  }
};

/// The gradient of the bias: sums over all rows, in the order of columns() and in double. A column
/// is a unit of a gate.
template <class T, class F>
struct RecurrentBiasGradient {
  using A = Arithmetic<T>;
  using Sum = double;
  RecurrentSizes sizes;
  const F* sums;
  A* gradient;  // [gates * units]
  TY_HD double operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t gate = column / sizes.units, unit = column % sizes.units;
    return static_cast<A>(sums[sizes.gate_offset(gate, row, sizes.rows()) + unit]);
  }
  /// Adds rows [begin, end) of `count` columns to `totals`: the units of one gate are neighbours.
  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t count,
                 double* totals) const {
    while (count > 0) {
      const std::int64_t gate = column / sizes.units, unit = column % sizes.units;
      const std::int64_t left = sizes.units - unit, some = left < count ? left : count;
      for (std::int64_t row = begin; row < end; ++row) {
        const F* const from = sums + sizes.gate_offset(gate, row, sizes.rows()) + unit;
        for (std::int64_t k = 0; k < some; ++k) totals[k] += static_cast<A>(from[k]);
      }
      column += some;
      totals += some;
      count -= some;
    }
  }
  TY_HD void finish(std::int64_t column, double sum) const {
    gradient[column] = static_cast<A>(sum);
  }
};

}  // namespace trainyard
