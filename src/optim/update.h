// The loop that all optimizers share, on every device: one row per chunk, arithmetic by a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/host_device.h"
#include "kernels/chunk.h"
#include "optim/blocks.h"
#include "optim/element.h"
#include "optim/rules.h"

namespace trainyard {

/// Updates one chunk by a rule of rules.h. A frozen parameter, and every parameter after a
/// non-finite step, is unchanged: the new value is computed but not selected.
template <class T, class Rule>
struct UpdateChunk {
  static constexpr int kSlots = static_cast<int>(Rule::kSlots);
  Rule rule;
  Element<T*, Rule::kSlots> blocks;
  const T* gradients;
  const std::int32_t* updated;  // see UpdateBlocks
  const Segment* segments;
  const std::int32_t* segment_of_chunk;
  const StepState* state;
  const double* running_number;  // not read unless the rule has one
  double time_decay;             // Keras's decay: lr / (1 + time_decay * finished steps)

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t chunk = updated == nullptr ? row : updated[row];
    const Segment segment = segments[segment_of_chunk[chunk]];
    const bool keep = !segment.trains(state->tried) || state->nonfinite_step >= 0;
    const double rate = state->rate * segment.rate_multiplier /
                        (1.0 + time_decay * static_cast<double>(state->step));
    StepScalars scalars{.rate = rate, .decay = segment.decay, .finished = state->step};
    if constexpr (HasRunningNumber<Rule>) scalars.running = *running_number;
    const auto step = rule.template step<T>(scalars);
    const T shrink = static_cast<T>(1.0 - rate * segment.decoupled_decay);
    Element<T*, Rule::kSlots> at = blocks;
    at.weight += chunk * kChunk;
    for (int slot = 0; slot < kSlots; ++slot) at.state[slot] += chunk * kChunk;
    const T* const g = gradients + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) {
      Element<T, Rule::kSlots> e;
      e.weight = shrink * at.weight[i];
      for (int slot = 0; slot < kSlots; ++slot) e.state[slot] = at.state[slot][i];
      step(g[i], e);
      at.weight[i] = keep ? at.weight[i] : e.weight;
      for (int slot = 0; slot < kSlots; ++slot) {
        at.state[slot][i] = keep ? at.state[slot][i] : e.state[slot];
      }
    });
  }
};

/// Advances the running number of a rule after a finite step. Launch with one element.
template <class Rule>
struct AdvanceRule {
  Rule rule;
  const StepState* state;
  double* running_number;
  TY_HD void operator()(std::int64_t /*unused*/) const {
    if (state->nonfinite_step >= 0) return;
    *running_number = rule.advanced(*running_number, state->step);
  }
};

/// Runs `rule` over all chunks in arithmetic type T.
template <class T, class Launcher, class Rule>
void update_chunks(const Launcher& launcher, const UpdateBlocks& blocks, const Rule& rule,
                   double time_decay) {
  UpdateChunk<T, Rule> update{.rule = rule,
                              .blocks = {static_cast<T*>(blocks.weights), {}},
                              .gradients = static_cast<const T*>(blocks.gradients),
                              .updated = blocks.updated,
                              .segments = blocks.segments,
                              .segment_of_chunk = blocks.segment_of_chunk,
                              .state = blocks.state,
                              .running_number = blocks.running_number,
                              .time_decay = time_decay};
  for (int slot = 0; slot < update.kSlots; ++slot) {
    update.blocks.state[slot] = static_cast<T*>(blocks.slots.at(static_cast<std::size_t>(slot)));
  }
  launcher.rows(blocks.updated == nullptr ? blocks.chunks : blocks.updated_chunks, update);
  if constexpr (HasRunningNumber<Rule>) {
    launcher.each(1, AdvanceRule<Rule>{rule, blocks.state, blocks.running_number});
  }
}

/// One step over all chunks, in arithmetic type T.
template <class T, class Launcher>
void run_update(const Launcher& launcher, const UpdateBlocks& blocks, const UpdateRule& rule,
                double time_decay) {
  std::visit([&](const auto& own) { update_chunks<T>(launcher, blocks, own, time_decay); }, rule);
}

}  // namespace trainyard
