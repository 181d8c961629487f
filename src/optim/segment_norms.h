// The norms of single parameters, in double and in a fixed order: spans of chunks, then the spans
// of a parameter.
#pragma once

#include <cstdint>

#include "base/math.h"
#include "optim/blocks.h"
#include "optim/gradient.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// One row per span: the sums of its squares.
template <class T>
struct SpanSquares {
  const T* weights;
  const T* gradients;
  const ChunkSpan* spans;
  std::int64_t chunks;  // chunks of these, for those who count bytes
  GradientClip clip;    // clipping of the gradients
  Norms* partials;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const ChunkSpan span = spans[row];
    const T* const w = weights + span.first * kChunk;
    const T* const g = gradients + span.first * kChunk;
    const auto squares = [&](const T* x, T factor) {
      return team.template sum<double>(span.chunks * kChunk, [=](std::int64_t i) {
        const double value = static_cast<double>(x[i] * factor);
        return value * value;
      });
    };
    const double of_weights = squares(w, T(1));
    const double of_gradients = squares(g, static_cast<T>(clip_factor(clip)));
    Norms* const out = partials + row;
    team.once([=] { *out = {of_weights, of_gradients}; });
  }
};

/// One row per segment: the roots of the sums over its spans.
struct SegmentRoots {
  const SegmentSpans* segments;
  const Norms* partials;
  Norms* norms;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const SegmentSpans own = segments[row];
    const Norms* const p = partials + own.first;
    const double of_weights =
        team.template sum<double>(own.count, [=](std::int64_t i) { return p[i].weights; });
    const double of_gradients =
        team.template sum<double>(own.count, [=](std::int64_t i) { return p[i].gradients; });
    Norms* const out = norms + own.segment;
    team.once([=] { *out = {math::sqrt(of_weights), math::sqrt(of_gradients)}; });
  }
};

/// Writes the norms of the segments of blocks.norms; the gradients' are of what `clip` leaves.
template <class T, class Launcher>
void segment_norms(const Launcher& launcher, const UpdateBlocks& blocks, const GradientClip& clip) {
  const NormBlocks& of = blocks.norms;
  launcher.rows(blocks.span_count, SpanSquares<T>{static_cast<const T*>(blocks.weights),
                                                  static_cast<const T*>(blocks.gradients),
                                                  blocks.spans, blocks.chunks, clip, of.partials});
  launcher.rows(of.segment_count, SegmentRoots{of.segments, of.partials, of.norms});
}

}  // namespace trainyard
