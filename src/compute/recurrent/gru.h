// The arithmetic of a gru between its matrix products, as functors (cell.h). With the reset gate
// after the product a step is one functor; with it before, one makes the factors of the new values'
// product, and another the state of what that gives.
#pragma once

#include <cstdint>

#include "compute/recurrent/cell.h"

namespace trainyard {

/// The gates of a gru, in the order of its parameters.
inline constexpr std::int64_t kReset = 0, kUpdate = 1, kNew = 2;

/// What the functors of a gru's step share.
template <class T>
struct GruTimeStep {
  using A = Arithmetic<T>;
  CellTimeStep<T> step;
  const A* before;  // state before this step: [sample][unit]
  A* state;         // after it

  [[nodiscard]] TY_HD std::int64_t first(std::int64_t sample) const {
    return sample * step.sizes.units;
  }
  /// Passes the state on where a mask leaves a step out.
  template <class Team>
  TY_HD void pass_on(const Team& team, std::int64_t sample) const {
    const A* const from = before + first(sample);
    A* const to = state + first(sample);
    team.each(step.sizes.units, [&](std::int64_t u) { to[u] = from[u]; });
  }
};

/// One unit, with the reset gate after the product.
template <class A, class Gate, class Activation>
struct GruUnit {
  GateSums<A> sums;
  const A* second_bias;  // [3 * units]
  A* gates;
  A* inner;  // what r multiplies
  const A* before;
  A* state;
  TY_HD void operator()(std::int64_t u) const {
    const Gate gate{};
    const A r = gate.value(sums(kReset, u) + second_bias[u]);
    const A z = gate.value(sums(kUpdate, u) + second_bias[sums.units + u]);
    const A reset = sums.of_state(kNew, u) + second_bias[kNew * sums.units + u];
    const A value = Activation{}.value(sums.of_input(kNew, u) + r * reset);
    gates[u] = r;
    gates[sums.stride + u] = z;
    gates[kNew * sums.stride + u] = value;
    inner[u] = reset;
    state[u] = z * before[u] + (A(1) - z) * value;
  }
};

/// A step with the reset gate after the product. The gates' values overwrite their sums.
template <class T, class F>
struct GruForward {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  CellSums<T> sums;
  NewState<T, F> state;
  const A* second_bias;
  A* inner;  // this step's, [sample][unit]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    gru.step.skips(sample) ? gru.pass_on(team, sample) : gru.step.compute(*this, team, sample);
    state.put_out(team, gru.step.sizes, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = gru.first(sample);
    team.each(gru.step.sizes.units,
              GruUnit<A, Gate, Activation>{gate_sums(gru.step, sums, sample), second_bias,
                                           gru.step.gates + gru.step.at(sample), inner + first,
                                           gru.before + first, gru.state + first});
  }
};

/// The gates of a step with the reset gate before the product, and the factors of that: r * h, with
/// zeros of its own. All gates have products of their own then (RecurrentSizes::copies).
template <class T, class F>
struct GruGates {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  CellSums<T> sums;
  const A* mask;  // mask of the new values' factors, [sample][unit], or null
  F* factors;     // the new values' of this step, [sample][unit]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    gru.step.compute(*this, team, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const GateSums<A> sum = gate_sums(gru.step, sums, sample);
    A* const gates = gru.step.gates + gru.step.at(sample);
    const std::int64_t first = gru.first(sample);
    const A* const before = gru.before + first;
    const A* const kept = mask == nullptr ? nullptr : mask + first;
    F* const out = factors + first;
    team.each(gru.step.sizes.units, [&](std::int64_t u) {
      const A r = Gate{}.value(sum(kReset, u));
      gates[u] = r;
      gates[sum.stride + u] = Gate{}.value(sum(kUpdate, u));
      out[u] = factor_of<T, F>(kept == nullptr ? r * before[u] : r * before[u] * kept[u]);
    });
  }
};

/// The state of such a step, from its gates and the product of their factors.
template <class T, class F>
struct GruState {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  CellSums<T> sums;
  NewState<T, F> state;  // for factors before the reset gate: not the new values'

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    gru.step.skips(sample) ? gru.pass_on(team, sample) : gru.step.compute(*this, team, sample);
    RecurrentSizes sizes = gru.step.sizes;
    sizes.copies = kNew;
    state.put_out(team, sizes, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const GateSums<A> sum = gate_sums(gru.step, sums, sample);
    A* const gates = gru.step.gates + gru.step.at(sample);
    const A* const before = gru.before + gru.first(sample);
    A* const after = gru.state + gru.first(sample);
    team.each(gru.step.sizes.units, [&](std::int64_t u) {
      const A value = Activation{}.value(sum(kNew, u)), z = gates[sum.stride + u];
      gates[kNew * sum.stride + u] = value;
      after[u] = z * before[u] + (A(1) - z) * value;
    });
  }
};

/// The gradient of one unit: of the sums of z and of the new values, which it returns, and of the
/// state, without what the products add.
template <class T, class F, class Gate, class Activation>
struct GruUnitGradient {
  using A = Arithmetic<T>;
  const A* gates;
  F* sums;
  std::int64_t stride;  // stride of both, from gate to gate
  const A* before;
  A* state_gradient;
  TY_HD A operator()(std::int64_t u) const {
    const A z = gates[stride + u], value = gates[kNew * stride + u], outer = state_gradient[u];
    const A inner = Activation{}.gradient(outer * (A(1) - z), value);
    sums[stride + u] = factor_of<T, F>(Gate{}.gradient(outer * (before[u] - value), z));
    sums[kNew * stride + u] = factor_of<T, F>(inner);
    state_gradient[u] = outer * z;
    return inner;
  }
};

/// The gradient of a step with the reset gate after the product: of the sums of its gates, and of
/// the products with the state's weights, which are others for the new values.
template <class T, class F>
struct GruBackward {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  StateGradient<T> state;
  const A* inner;
  F* sums;      // this step's, as the gates
  F* products;  // the same of the products

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    const CellTimeStep<T>& step = gru.step;
    state.collect(team, step.sizes, sample);
    if (!step.skips(sample)) return step.compute(*this, team, sample);
    step.zero_gates(team, sums, sample);
    step.zero_gates(team, products, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = gru.first(sample), at = gru.step.at(sample);
    const std::int64_t stride = gru.step.stride();
    const A* const gates = gru.step.gates + at;
    const A* const reset = inner + first;
    F *const of_sums = sums + at, *const of_products = products + at;
    const GruUnitGradient<T, F, Gate, Activation> unit{gates, of_sums, stride, gru.before + first,
                                                       state.state + first};
    team.each(gru.step.sizes.units, [&](std::int64_t u) {
      const A outer = unit(u), r = gates[u];
      of_sums[u] = factor_of<T, F>(Gate{}.gradient(outer * reset[u], r));
      of_products[u] = of_sums[u];
      of_products[stride + u] = of_sums[stride + u];
      of_products[kNew * stride + u] = factor_of<T, F>(outer * r);
    });
  }
};

/// The gradients of a step with the reset gate before the product, but for that of r.
template <class T, class F>
struct GruStateBackward {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  StateGradient<T> state;
  F* sums;  // this step's, as the gates

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    RecurrentSizes sizes = gru.step.sizes;
    sizes.copies = kNew;  // the new values' product reads the state by way of r
    state.collect(team, sizes, sample);
    gru.step.skips(sample) ? gru.step.zero_gates(team, sums, sample)
                           : gru.step.compute(*this, team, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = gru.first(sample), at = gru.step.at(sample);
    const GruUnitGradient<T, F, Gate, Activation> unit{
        gru.step.gates + at, sums + at, gru.step.stride(), gru.before + first, state.state + first};
    team.each(gru.step.sizes.units, [&](std::int64_t u) { unit(u); });
  }
};

/// The gradient of r, and what it passes on to the state, from that of its product r * h.
template <class T, class F>
struct GruResetBackward {
  using A = Arithmetic<T>;
  GruTimeStep<T> gru;
  const A* products;  // [sample][unit]
  const A* mask;      // as GruGates
  A* state_gradient;  // [sample][unit]
  F* sums;            // this step's, as the gates

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t sample) const {
    if (!gru.step.skips(sample)) gru.step.compute(*this, team, sample);
  }
  template <class Gate, class Activation, class Team>
  TY_HD void compute(const Team& team, std::int64_t sample) const {
    const std::int64_t first = gru.first(sample), at = gru.step.at(sample);
    const A* const gates = gru.step.gates + at;
    const A* const before = gru.before + first;
    const A* const kept = mask == nullptr ? nullptr : mask + first;
    const A* const in = products + first;
    A* const gradient = state_gradient + first;
    F* const out = sums + at;
    team.each(gru.step.sizes.units, [&](std::int64_t u) {
      const A outer = kept == nullptr ? in[u] : in[u] * kept[u];
      out[u] = factor_of<T, F>(Gate{}.gradient(outer * before[u], gates[u]));
      gradient[u] += outer * gates[u];
    });
  }
};

}  // namespace trainyard
