// Processing of the flat gradient block between the all-reduce and the optimizer step: its
// arithmetic, and its launches on any launcher.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/math.h"
#include "optim/blocks.h"
#include "optim/packed_form.h"
#include "optim/result_sums.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// Factor that clips a gradient of this norm to `maximum`: maximum / norm if the norm is larger,
/// else exactly 1 (also for NaN, and without a bound).
[[nodiscard]] TY_HD double clip_factor(double norm, double maximum) {
  return maximum > 0 && norm > maximum ? maximum / norm : 1.0;
}
[[nodiscard]] TY_HD double clip_factor(const GradientClip& clip) {
  return clip.maximum > 0 ? clip_factor(*clip.norm, clip.maximum) : 1.0;
}

/// The sums of spans, and then of all of them, in double and in a fixed order.
struct SpanSums {
  double* partials = nullptr;         // indexed by span
  std::uint32_t* finished = nullptr;  // see finished_rows() of the launchers

  template <class Team>
  [[nodiscard]] TY_HD double total(const Team& team, std::int64_t spans) const {
    const double* const p = partials;
    return team.template sum_loaded<double>(spans, [=](std::int64_t i) { return p[i]; });
  }
};

/// A chunk of the sums of batch means, and the chunk of parameters with the biases that they lack.
struct BiasedMeans {
  std::int64_t means = 0;  // in the gradient block, whose tail they are
  std::int64_t biases = 0;
};

/// What the sums of gradients, and of batch means, become before the optimizer's rule and the
/// update of running statistics read them.
struct GradientFinish {
  bool unscale = false;  // divide by the loss scale of the state
  /// The sum of the samples' weights over all ranks, and the number of those that are not 0; null:
  /// samples have none.
  const double* weights = nullptr;
  double samples = 1;  // samples of a step
  SpanSums sums;
  double* norm = nullptr;     // the 2-norm of the result
  double* skipped = nullptr;  // set to 1 if no sample counts; not needed without weights
  const double* loss = nullptr;
  StepState* state = nullptr;
  const BiasedMeans* biased = nullptr;
  std::int64_t biased_count = 0;
  const double* replicas = nullptr;  // replicas whose batch means are summed
  PackedTable packed;                // gradients that a pass has left so, in the first form
  ResultSums results = {};  // the batch's, which the end needs; without columns: summed already
};

/// A row is a span: gradient = gradient / loss scale * samples / weights + 2 * l2 * w, each factor
/// and term only where there is one. The loss scale is a power of two, so its division is exact;
/// `samples / weights` makes the mean over samples that over their weights (0 without weights); the
/// term is that of Keras's l2 in the loss, and frozen parameters have none. Where no pass writes
/// the gradient it is 0, whatever the last step left there. Further rows add the biases that batch
/// means lack, and the last ones sum results. The end takes the norm, and prevents the update,
/// unless an earlier one is withheld: marks it in the state if norm or loss is not finite, or if no
/// sample counts, which EndUpdate undoes.
template <class T>
struct FinishGradients {
  const T* weights;
  T* gradients;
  const Segment* segments;
  const ChunkSpan* spans;
  std::int64_t span_count;
  std::int64_t chunks;  // chunks of the spans, for those who count bytes
  GradientFinish task;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t column = row - span_count - task.biased_count;
    if (column >= 0) return task.results(team, column);
    if (row >= span_count) return add_biases(team, task.biased[row - span_count]);
    const ChunkSpan span = spans[row];
    const Segment& segment = segments[span.segment];
    const bool unwritten = segment.unwritten != 0;
    const T l2 = segment.frozen != 0 ? T(0) : static_cast<T>(2.0 * segment.l2);
    T* const g = gradients + span.first * kChunk;
    const std::int64_t count = span.chunks * kChunk;
    unpack_elements(team, task.packed, span.segment, span.first * kChunk, count, gradients);
    if (unwritten || l2 != 0 || task.unscale || task.weights != nullptr) {
      const T* const w = weights + span.first * kChunk;
      const T scale = static_cast<T>(task.unscale ? 1.0 / task.state->loss_scale : 1.0);
      const T share = share_of_samples();
      team.each(count, [=](std::int64_t i) {
        const T mean = unwritten ? T(0) : g[i] * scale * share;
        g[i] = l2 != 0 ? mean + l2 * w[i] : mean;
      });
    }
    const double sum = team.template sum<double>(count, [=](std::int64_t i) {
      const double value = static_cast<double>(g[i]);
      return value * value;
    });
    double* const out = task.sums.partials + row;
    team.once([=] { *out = sum; });
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    const double norm = math::sqrt(task.sums.total(team, span_count));
    const GradientFinish& own = task;
    team.once([&] {
      const bool empty = own.weights != nullptr && own.weights[1] == 0;
      *own.norm = empty ? 0 : norm;
      const bool finite = math::is_finite(norm) && math::is_finite(*own.loss);
      if ((finite && !empty) || own.state->nonfinite_step >= 0) return;
      own.state->nonfinite_step = own.state->step;
      if (empty) *own.skipped = 1;
    });
  }

 private:
  template <class Team>
  TY_HD void add_biases(const Team& team, const BiasedMeans& chunk) const {
    T* const sums = gradients + chunk.means * kChunk;
    const T* const biases = weights + chunk.biases * kChunk;
    const T replicas = static_cast<T>(*task.replicas);
    team.each(kChunk, [=](std::int64_t i) { sums[i] += replicas * biases[i]; });
  }
  [[nodiscard]] TY_HD T share_of_samples() const {
    if (task.weights == nullptr) return T(1);
    return static_cast<T>(*task.weights > 0 ? task.samples / *task.weights : 0.0);
  }
};

/// A row is a span: the sum of l2 * w^2. The end writes the sum over all; frozen parameters count,
/// as in Keras.
template <class T>
struct RegularisationLoss {
  const T* weights;
  const Segment* segments;
  const ChunkSpan* spans;
  std::int64_t span_count;
  SpanSums sums;
  double* loss;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const ChunkSpan span = spans[row];
    const T* const w = weights + span.first * kChunk;
    const double l2 = segments[span.segment].l2;
    const double sum = team.template sum<double>(span.chunks * kChunk, [=](std::int64_t i) {
      const double value = static_cast<double>(w[i]);
      return l2 * value * value;
    });
    double* const out = sums.partials + row;
    team.once([=] { *out = sum; });
  }
  template <class Team>
  TY_HD void finish(const Team& team) const {
    const double sum = sums.total(team, span_count);
    double* const out = loss;
    team.once([=] { *out = sum; });
  }
};

/// True if a segment has an l2 term, so that there is a regularisation loss.
[[nodiscard]] inline bool has_l2(std::span<const Segment> segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.l2 != 0; });
}

/// Calls f with a zero of an arithmetic type: f64 or f32.
template <class F>
void with_arithmetic(DType type, const F& f) {
  type == DType::f64 ? f(double{}) : f(float{});
}

/// Makes the sums of gradients those that the optimizer's rule reads, with their norm: one launch,
/// see FinishGradients. `blocks` has all spans.
template <class Launcher>
void finish_gradients(const Launcher& launcher, const UpdateBlocks& blocks,
                      const GradientFinish& task) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.finished_rows(
        blocks.span_count + task.biased_count + task.results.table.columns(),
        FinishGradients<T>{static_cast<const T*>(blocks.weights), static_cast<T*>(blocks.gradients),
                           blocks.segments, blocks.spans, blocks.span_count, blocks.chunks, task},
        task.sums.finished);
  });
}

/// Writes the sum of l2 * w^2 over all parameters to `loss`. All memory is the launcher's, and
/// `blocks` has all spans.
template <class Launcher>
void regularisation_loss(const Launcher& launcher, const UpdateBlocks& blocks, const SpanSums& sums,
                         double* loss) {
  with_arithmetic(blocks.type, [&](auto zero) {
    using T = decltype(zero);
    launcher.finished_rows(
        blocks.span_count,
        RegularisationLoss<T>{static_cast<const T*>(blocks.weights), blocks.segments, blocks.spans,
                              blocks.span_count, sums, loss},
        sums.finished);
  });
}

}  // namespace trainyard
