// The loops that all optimizers share, on every device: one row per chunk, arithmetic by a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/host_device.h"
#include "kernels/chunk.h"
#include "optim/blocks.h"
#include "optim/element.h"
#include "optim/rules.h"
#include "optim/segment_norms.h"

namespace trainyard {

/// The state values that the last phase of a rule's step changes: those of a rule with a direction
/// are the direction's.
template <class Rule>
inline constexpr std::size_t kAppliedSlots = HasDirection<Rule> ? 0 : Rule::kSlots;

/// What the loops over a rule's chunks read and change, `slots` state values of it.
template <class T, class Rule, std::size_t slots>
struct RuleChunks {
  static constexpr int kSlots = static_cast<int>(slots);
  using At = Element<T*, slots>;
  using Own = Element<T, slots>;
  Rule rule;
  At blocks;
  T* gradients;
  const std::int32_t* updated;  // see UpdateBlocks
  const Segment* segments;
  const std::int32_t* segment_of_chunk;
  const StepState* state;
  const double* running_number;  // not read unless the rule has one
  const Norms* norms;            // not read unless the rule has a trust ratio
  double time_decay;             // Keras's decay: lr / (1 + time_decay * finished steps)

  /// The chunk of a row.
  [[nodiscard]] TY_HD std::int64_t chunk_of(std::int64_t row) const {
    return updated == nullptr ? row : updated[row];
  }
  /// Whether a parameter changes in this step: a frozen one does not, and after a non-finite step
  /// none does.
  [[nodiscard]] TY_HD bool changes(const Segment& segment) const {
    return segment.trains(state->tried) && state->nonfinite_step < 0;
  }
  /// Without the trust ratio.
  [[nodiscard]] TY_HD StepScalars scalars_of(const Segment& segment) const {
    StepScalars scalars{.rate = state->rate * segment.rate_multiplier /
                                (1.0 + time_decay * static_cast<double>(state->step)),
                        .decay = segment.decay,
                        .finished = state->step};
    if constexpr (HasRunningNumber<Rule>) scalars.running = *running_number;
    return scalars;
  }
  [[nodiscard]] TY_HD At at(std::int64_t chunk) const {
    At own = blocks;
    own.weight += chunk * kChunk;
    for (int slot = 0; slot < kSlots; ++slot) own.state[slot] += chunk * kChunk;
    return own;
  }
};

/// The first phase of a rule with a direction: replaces the gradients of one chunk by it.
template <class T, class Rule>
struct DirectChunk {
  using All = RuleChunks<T, Rule, Rule::kSlots>;
  All all;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t chunk = all.chunk_of(row);
    const Segment& segment = all.segments[all.segment_of_chunk[chunk]];
    if (!all.changes(segment)) return;
    const auto direction = all.rule.template direction<T>(all.scalars_of(segment));
    const typename All::At at = all.at(chunk);
    T* const g = all.gradients + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) {
      typename All::Own e;
      e.weight = at.weight[i];
      for (int slot = 0; slot < All::kSlots; ++slot) e.state[slot] = at.state[slot][i];
      g[i] = direction(g[i], e);
      for (int slot = 0; slot < All::kSlots; ++slot) at.state[slot][i] = e.state[slot];
    });
  }
};

/// The last phase of every rule: changes the weights of one chunk.
template <class T, class Rule>
struct UpdateChunk {
  using All = RuleChunks<T, Rule, kAppliedSlots<Rule>>;
  All all;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t chunk = all.chunk_of(row);
    const std::int32_t index = all.segment_of_chunk[chunk];
    const Segment& segment = all.segments[index];
    if (!all.changes(segment)) return;
    StepScalars scalars = all.scalars_of(segment);
    const T shrink = static_cast<T>(1.0 - scalars.rate * segment.decoupled_decay);
    if constexpr (HasTrustRatio<Rule>) {
      const Norms norms = all.norms[index];
      const double ratio = all.rule.trust_ratio(norms.weights, norms.gradients, segment.decay);
      scalars.rate *= segment.adapted != 0 ? ratio : 1.0;
    }
    const auto step = all.rule.template step<T>(scalars);
    const typename All::At at = all.at(chunk);
    const T* const g = all.gradients + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) {
      typename All::Own e;
      e.weight = shrink * at.weight[i];
      for (int slot = 0; slot < All::kSlots; ++slot) e.state[slot] = at.state[slot][i];
      step(g[i], e);
      at.weight[i] = e.weight;
      for (int slot = 0; slot < All::kSlots; ++slot) at.state[slot][i] = e.state[slot];
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

template <class T, std::size_t slots, class Rule>
RuleChunks<T, Rule, slots> rule_chunks(const UpdateBlocks& blocks, const Rule& rule,
                                       double time_decay) {
  RuleChunks<T, Rule, slots> all{.rule = rule,
                                 .blocks = {static_cast<T*>(blocks.weights), {}},
                                 .gradients = static_cast<T*>(blocks.gradients),
                                 .updated = blocks.updated,
                                 .segments = blocks.segments,
                                 .segment_of_chunk = blocks.segment_of_chunk,
                                 .state = blocks.state,
                                 .running_number = blocks.running_number,
                                 .norms = blocks.norms.norms,
                                 .time_decay = time_decay};
  for (int slot = 0; slot < all.kSlots; ++slot) {
    all.blocks.state[slot] = static_cast<T*>(blocks.slots.at(static_cast<std::size_t>(slot)));
  }
  return all;
}

/// The phases of one step of `rule` over its chunks, in order, in arithmetic type T.
template <class T, class Launcher, class Rule>
void update_chunks(const Launcher& launcher, const UpdateBlocks& blocks, const Rule& rule,
                   double time_decay) {
  const std::int64_t rows = blocks.updated == nullptr ? blocks.chunks : blocks.updated_chunks;
  if constexpr (HasDirection<Rule>) {
    launcher.rows(rows,
                  DirectChunk<T, Rule>{rule_chunks<T, Rule::kSlots>(blocks, rule, time_decay)});
  }
  if constexpr (HasTrustRatio<Rule>) segment_norms<T>(launcher, blocks);
  launcher.rows(
      rows, UpdateChunk<T, Rule>{rule_chunks<T, kAppliedSlots<Rule>>(blocks, rule, time_decay)});
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
