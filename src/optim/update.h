// The loops that all optimizers share, on every device: one row per span of chunks, arithmetic by a
// rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "base/host_device.h"
#include "launcher/siblings.h"
#include "optim/blocks.h"
#include "optim/gradient.h"
#include "optim/newton_schulz.h"
#include "optim/rule_parts.h"
#include "optim/rules.h"
#include "optim/running_statistics.h"
#include "optim/segment_norms.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// Neighbouring elements, which a lane of a GPU reads and writes 16 bytes at a time.
template <class T>
struct alignas(16) FourElements {
  T at[4];
};

/// What a functor changes besides the state.
enum class Changed { weight, gradient };

/// Calls change(gradient, element) for the first n elements of a span, n being a multiple of 4: one
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

/// The state values that the last phase of a rule's step changes: those of a rule with a direction
/// are the direction's.
template <class Rule>
inline constexpr std::size_t kAppliedSlots = HasDirection<Rule> ? 0 : Rule::kSlots;

/// What the loops over a rule's spans read and change, `slots` state values of it.
template <class T, class Rule, std::size_t slots>
struct RuleSpans {
  static constexpr int kSlots = static_cast<int>(slots);
  using At = Element<T*, slots>;
  using Own = Element<T, slots>;
  Rule rule;
  At blocks;
  T* gradients;
  const ChunkSpan* spans;  // spans of the rule
  std::int64_t chunks;     // chunks of these, for those who count bytes
  const Segment* segments;
  const StepState* state;
  GradientClip clip;             // clipping of the gradients as this loop reads them
  const double* running_number;  // not read unless the rule has one
  const Norms* norms;            // not read unless the rule needs them
  double time_decay;             // Keras's decay: lr / (1 + time_decay * finished steps)

  /// Whether a parameter changes in this step: a frozen one does not, and in a withheld step none
  /// does.
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
  /// change(gradient, element) for the elements of a span.
  template <Changed what, class Team, class F>
  TY_HD void change(const Team& team, const ChunkSpan& span, const F& change) const {
    At own = blocks;
    own.weight += span.first * kChunk;
    for (int slot = 0; slot < kSlots; ++slot) own.state[slot] += span.first * kChunk;
    change_elements<what>(team, span.chunks * kChunk, gradients + span.first * kChunk, own, change);
  }
};

/// The first phase of a rule with a direction: replaces the gradients of one span by it.
template <class T, class Rule>
struct DirectSpan {
  using All = RuleSpans<T, Rule, Rule::kSlots>;
  All all;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const ChunkSpan span = all.spans[row];
    const Segment& segment = all.segments[span.segment];
    if (!all.changes(segment)) return;
    const auto direction = all.rule.template direction<T>(all.scalars_of(segment));
    const T clip = static_cast<T>(clip_factor(all.clip));
    all.template change<Changed::gradient>(
        team, span, [=](T& g, typename All::Own& e) { g = direction(g * clip, e); });
  }
};

/// The last phase of every rule: changes the weights of one span. It may pack them, and in
/// finished_rows() it ends the step.
template <class T, class Rule>
struct UpdateSpan {
  using All = RuleSpans<T, Rule, kAppliedSlots<Rule>>;
  All all;
  PackedTable packed;
  EndUpdate end;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const ChunkSpan span = all.spans[row];
    const Segment& segment = all.segments[span.segment];
    if (!all.changes(segment)) return;
    StepScalars scalars = all.scalars_of(segment);
    double shrink_by = 1.0 - scalars.rate * segment.decoupled_decay;
    if constexpr (OfMatrices<Rule>) {
      shrink_by *= all.rule.rescaling(all.norms[span.segment].weights, segment.rows);
    }
    const T shrink = static_cast<T>(shrink_by);
    if constexpr (HasTrustRatio<Rule>) {
      const Norms norms = all.norms[span.segment];
      const double ratio = all.rule.trust_ratio(norms.weights, norms.gradients,
                                                {segment.decay, segment.decoupled_decay});
      scalars.rate *= segment.adapted != 0 ? ratio : 1.0;
    }
    const auto step = all.rule.template step<T>(scalars);
    const T clip = static_cast<T>(clip_factor(all.clip));
    all.template change<Changed::weight>(team, span, [=](T& g, typename All::Own& e) {
      e.weight = shrink * e.weight;
      step(g * clip, e);
    });
    pack_elements(team, packed, span.segment, span.first * kChunk, span.chunks * kChunk,
                  all.blocks.weight);
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    const EndUpdate& own = end;
    team.once([&] { own(0); });
  }
};

/// Advances the running number of a rule, unless the step is withheld. Launch with one element.
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
RuleSpans<T, Rule, slots> rule_runs(const UpdateBlocks& blocks, const Rule& rule,
                                    const GradientClip& clip, double time_decay) {
  RuleSpans<T, Rule, slots> all{.rule = rule,
                                .blocks = {static_cast<T*>(blocks.weights), {}},
                                .gradients = static_cast<T*>(blocks.gradients),
                                .spans = blocks.spans,
                                .chunks = blocks.chunks,
                                .segments = blocks.segments,
                                .state = blocks.state,
                                .clip = clip,
                                .running_number = blocks.running_number,
                                .norms = blocks.norms.norms,
                                .time_decay = time_decay};
  for (int slot = 0; slot < all.kSlots; ++slot) {
    all.blocks.state[slot] = static_cast<T*>(blocks.slots.at(static_cast<std::size_t>(slot)));
  }
  return all;
}

/// The phases of one step of `rule` over its spans, in order, in arithmetic type T. The last one
/// updates the statistics too, and with UpdateBlocks::finished ends the step.
template <class T, class Launcher, class Rule>
void update_spans(const Launcher& launcher, const UpdateBlocks& blocks, const Rule& rule,
                  double time_decay, const StatisticBlocks& statistics) {
  GradientClip clip = blocks.clip;
  if constexpr (HasDirection<Rule>) {
    launcher.rows(blocks.span_count,
                  DirectSpan<T, Rule>{rule_runs<T, Rule::kSlots>(blocks, rule, clip, time_decay)});
    clip = {};  // the direction is not clipped
  }
  if constexpr (HasTrustRatio<Rule> || OfMatrices<Rule>) {
    segment_norms<T>(launcher, blocks, clip);
  }
  if constexpr (OfMatrices<Rule>) {
    for (const MatrixBatch& batch : blocks.matrices) {
      orthogonalize<T>(launcher, blocks, batch, rule.iteration);
    }
  }
  const UpdateSpan<T, Rule> update{
      rule_runs<T, kAppliedSlots<Rule>>(blocks, rule, clip, time_decay), blocks.packed, blocks.end};
  const UpdateRunning<T> running{static_cast<T*>(statistics.running),
                                 static_cast<const T*>(statistics.batch), statistics.rules,
                                 statistics.state, statistics.replicas};
  const std::int64_t count = blocks.span_count + statistics.chunks;
  const InTurn<UpdateSpan<T, Rule>, UpdateRunning<T>> rows{update, blocks.span_count, running};
  if constexpr (HasRunningNumber<Rule>) {
    launcher.rows(count, rows);
    launcher.each(1, AdvanceRule<Rule>{rule, blocks.state, blocks.running_number});
    if (blocks.finished != nullptr) launcher.each(1, blocks.end);
  } else if (blocks.finished != nullptr) {
    launcher.finished_rows(count, rows, blocks.finished);
  } else {
    launcher.rows(count, rows);
  }
}

/// One step over the spans of a rule, in arithmetic type T.
template <class T, class Launcher>
void run_update(const Launcher& launcher, const UpdateBlocks& blocks, const UpdateRule& rule,
                double time_decay, const StatisticBlocks& statistics) {
  std::visit(
      [&](const auto& own) { update_spans<T>(launcher, blocks, own, time_decay, statistics); },
      rule);
}

}  // namespace trainyard
