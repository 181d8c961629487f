// The loop that every optimizer shares: one row a chunk, arithmetic given by a rule.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "kernels/launch.h"
#include "optim/optimizer.h"

namespace trainyard {

/// One parameter element with its optimizer state.
template <class T>
struct Element {
  T weight, first, second;
};

/// Updates one chunk. `Rule` has kSlots (0 to 2) and step(rate, decay, finished updates), which
/// answers a functor (gradient, Element&) that changes one element. A frozen parameter, and every
/// parameter after a non-finite step, keeps its bits: the new value is computed and not selected.
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
  double time_decay;  // Keras's decay: rate / (1 + time_decay * finished updates)

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    const Segment segment = segments[segment_of_chunk[chunk]];
    const bool keep = segment.frozen != 0 || state->nonfinite_step >= 0;
    const double rate = state->rate * segment.rate_multiplier /
                        (1.0 + time_decay * static_cast<double>(state->step));
    const auto step = rule.step(rate, segment.decay, state->step);
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

/// Runs `rule` over all chunks in arithmetic type T.
template <class T, class Rule>
void run_update(const CpuLauncher& launcher, const UpdateBlocks& blocks, const Rule& rule,
                double time_decay) {
  const auto slot = [&](std::size_t index) {
    return index < Rule::kSlots ? static_cast<T*>(blocks.slots.at(index)) : nullptr;
  };
  launcher.rows(
      blocks.chunks,
      UpdateChunk<T, Rule>{rule, static_cast<T*>(blocks.weights),
                           static_cast<const T*>(blocks.gradients), slot(0), slot(1),
                           blocks.segments, blocks.segment_of_chunk, blocks.state, time_decay});
}

}  // namespace trainyard
