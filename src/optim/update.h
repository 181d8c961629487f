// The loop that all optimizers share, on every device: one row per chunk, arithmetic by a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/host_device.h"
#include "kernels/chunk.h"
#include "optim/blocks.h"
#include "optim/rules.h"

namespace trainyard {

/// Updates one chunk by a rule of rules.h. A frozen parameter, and every parameter after a
/// non-finite step, is unchanged: the new value is computed but not selected.
template <class T, class Rule>
struct UpdateChunk {
  Rule rule;
  T* weights;
  const T* gradients;
  T* first;
  T* second;
  const Segment* segments;
  const std::int32_t* segment_of_chunk;
  const StepState* state;
  double time_decay;  // Keras's decay: lr / (1 + time_decay * finished steps)

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    const Segment segment = segments[segment_of_chunk[chunk]];
    const bool keep = segment.frozen != 0 || state->nonfinite_step >= 0;
    const double rate = state->rate * segment.rate_multiplier /
                        (1.0 + time_decay * static_cast<double>(state->step));
    const auto step = rule.template step<T>(rate, segment.decay, state->step);
    T* const w = weights + chunk * kChunk;
    const T* const g = gradients + chunk * kChunk;
    T* const a = Rule::kSlots > 0 ? first + chunk * kChunk : nullptr;
    T* const b = Rule::kSlots > 1 ? second + chunk * kChunk : nullptr;
    team.each(kChunk, [=](std::int64_t i) {
      Element<T> e{w[i], Rule::kSlots > 0 ? a[i] : T{}, Rule::kSlots > 1 ? b[i] : T{}};
      step(g[i], e);
      w[i] = keep ? w[i] : e.weight;
      if constexpr (Rule::kSlots > 0) a[i] = keep ? a[i] : e.first;
      if constexpr (Rule::kSlots > 1) b[i] = keep ? b[i] : e.second;
    });
  }
};

/// A state block; null if the rule does not have it.
template <class T, class Rule, std::size_t index>
[[nodiscard]] T* slot_of(const UpdateBlocks& blocks) {
  if constexpr (index < Rule::kSlots) return static_cast<T*>(blocks.slots.at(index));
  return nullptr;
}

/// Runs `rule` over all chunks in arithmetic type T.
template <class T, class Launcher, class Rule>
void update_chunks(const Launcher& launcher, const UpdateBlocks& blocks, const Rule& rule,
                   double time_decay) {
  launcher.rows(blocks.chunks,
                UpdateChunk<T, Rule>{
                    rule, static_cast<T*>(blocks.weights), static_cast<const T*>(blocks.gradients),
                    slot_of<T, Rule, 0>(blocks), slot_of<T, Rule, 1>(blocks), blocks.segments,
                    blocks.segment_of_chunk, blocks.state, time_decay});
}

/// One step over all chunks, in arithmetic type T.
template <class T, class Launcher>
void run_update(const Launcher& launcher, const UpdateBlocks& blocks, const UpdateRule& rule,
                double time_decay) {
  std::visit([&](const auto& own) { update_chunks<T>(launcher, blocks, own, time_decay); }, rule);
}

}  // namespace trainyard
