// How a team changes the elements of a run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/host_device.h"
#include "optim/rule_parts.h"

namespace trainyard {

/// Neighbouring elements, which a lane of a GPU reads and writes 16 bytes at a time.
template <class T>
struct alignas(16) FourElements {
  T at[4];
};

/// What a functor changes besides the state.
enum class Changed { weight, gradient };

/// Calls change(gradient, element) for the first n elements of a run, n being a multiple of 4: one
/// after the other on the CPU, whose compiler makes vectors of them, else four by a lane.
template <Changed what, class Team, class T, std::size_t slots, class F>
TY_HD void change_elements(const Team& team, std::int64_t n, T* gradients,
                           const Element<T*, slots>& at, const F& change) {
  constexpr int kSlots = static_cast<int>(slots);
  if constexpr (Team::kSerial) {
    team.each(n, [=](std::int64_t i) {
      T gradient = gradients[i];
      Element<T, slots> e;
      e.weight = at.weight[i];
      for (int slot = 0; slot < kSlots; ++slot) e.state[slot] = at.state[slot][i];
      change(gradient, e);
      if constexpr (what == Changed::weight) at.weight[i] = e.weight;
      if constexpr (what == Changed::gradient) gradients[i] = gradient;
      for (int slot = 0; slot < kSlots; ++slot) at.state[slot][i] = e.state[slot];
    });
  } else {
    using Four = FourElements<T>;
    const auto four = [](T* block, std::int64_t i) { return reinterpret_cast<Four*>(block) + i; };
    team.each(n / 4, [=](std::int64_t i) {
      Four g = *four(gradients, i), w = *four(at.weight, i);
      Four state[slots > 0 ? slots : 1];
      for (int slot = 0; slot < kSlots; ++slot) state[slot] = *four(at.state[slot], i);
      for (int k = 0; k < 4; ++k) {
        Element<T, slots> e;
        e.weight = w.at[k];
        for (int slot = 0; slot < kSlots; ++slot) e.state[slot] = state[slot].at[k];
        change(g.at[k], e);
        w.at[k] = e.weight;
        for (int slot = 0; slot < kSlots; ++slot) state[slot].at[k] = e.state[slot];
      }
      if constexpr (what == Changed::weight) *four(at.weight, i) = w;
      if constexpr (what == Changed::gradient) *four(gradients, i) = g;
      for (int slot = 0; slot < kSlots; ++slot) *four(at.state[slot], i) = state[slot];
    });
  }
}

}  // namespace trainyard
