#include "optim/gradient.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace trainyard {
namespace {

template <class T>
struct AddL2 {
  const T* weights;
  T* gradients;
  const Segment* segments;
  const std::int32_t* segment_of_chunk;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t chunk) const {
    const Segment segment = segments[segment_of_chunk[chunk]];
    if (segment.l2 == 0 || segment.frozen != 0) return;
    const T factor = static_cast<T>(2.0 * segment.l2);
    const T* const w = weights + chunk * kChunk;
    T* const g = gradients + chunk * kChunk;
    team.each(kChunk, [=](std::int64_t i) { g[i] += factor * w[i]; });
  }
};

/// One row a run of kChunksPerPartial chunks: partial[row] = sum of factor(chunk) * x^2.
template <class T>
struct SquareSum {
  const T* values;
  const Segment* segments;  // null: factor 1, else l2
  const std::int32_t* segment_of_chunk;
  std::int64_t chunks;
  double* partial;

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t first = row * kChunksPerPartial;
    const std::int64_t left = chunks - first;
    const std::int64_t count = (left < kChunksPerPartial ? left : kChunksPerPartial) * kChunk;
    const T* const x = values + first * kChunk;
    const Segment* const s = segments;
    const std::int32_t* const of = segment_of_chunk + first;
    const double sum = team.template sum<double>(count, [=](std::int64_t i) {
      const double value = static_cast<double>(x[i]);
      return (s == nullptr ? 1.0 : s[of[i / kChunk]].l2) * value * value;
    });
    double* const out = partial + row;
    team.once([=] { *out = sum; });
  }
};

/// Adds the partial sums in order: few (one in 16,384 elements), so one lane does it.
struct RootOfSum {
  const double* partial;
  std::int64_t count;
  double* norm;

  TY_HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += partial[i];
    *norm = std::sqrt(sum);
  }
};

template <class T>
struct ClipGradients {
  T* gradients;
  const double* norm;
  double maximum;
  TY_HD void operator()(std::int64_t i) const {
    gradients[i] *= static_cast<T>(clip_factor(*norm, maximum));
  }
};

/// Calls f with a value of the blocks' arithmetic type.
template <class F>
void with_type(const UpdateBlocks& blocks, const F& f) {
  blocks.type == DType::f64 ? f(double{}) : f(float{});
}

void check_scratch(const UpdateBlocks& blocks, std::span<double> scratch) {
  TY_CHECK(static_cast<std::int64_t>(scratch.size()) >= sum_scratch(blocks.chunks),
           "the scratch of a sum over the flat block is too small");
}

}  // namespace

bool has_l2(std::span<const Segment> segments) {
  return std::any_of(segments.begin(), segments.end(), [](const Segment& s) { return s.l2 != 0; });
}

void add_l2(const CpuLauncher& launcher, const UpdateBlocks& blocks) {
  with_type(blocks, [&](auto zero) {
    using T = decltype(zero);
    launcher.rows(blocks.chunks,
                  AddL2<T>{static_cast<const T*>(blocks.weights), static_cast<T*>(blocks.gradients),
                           blocks.segments, blocks.segment_of_chunk});
  });
}

double regularisation_loss(const CpuLauncher& launcher, const UpdateBlocks& blocks,
                           std::span<double> scratch) {
  check_scratch(blocks, scratch);
  const std::int64_t rows = sum_scratch(blocks.chunks);
  with_type(blocks, [&](auto zero) {
    using T = decltype(zero);
    launcher.rows(rows, SquareSum<T>{static_cast<const T*>(blocks.weights), blocks.segments,
                                     blocks.segment_of_chunk, blocks.chunks, scratch.data()});
  });
  double sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) sum += scratch[static_cast<std::size_t>(i)];
  return sum;
}

void gradient_norm(const CpuLauncher& launcher, const UpdateBlocks& blocks,
                   std::span<double> scratch, double* norm) {
  check_scratch(blocks, scratch);
  const std::int64_t rows = sum_scratch(blocks.chunks);
  with_type(blocks, [&](auto zero) {
    using T = decltype(zero);
    launcher.rows(rows, SquareSum<T>{static_cast<const T*>(blocks.gradients), nullptr,
                                     blocks.segment_of_chunk, blocks.chunks, scratch.data()});
  });
  launcher.each(1, RootOfSum{scratch.data(), rows, norm});
}

void clip_gradients(const CpuLauncher& launcher, const UpdateBlocks& blocks, const double* norm,
                    double maximum) {
  with_type(blocks, [&](auto zero) {
    using T = decltype(zero);
    launcher.each(blocks.chunks * kChunk,
                  ClipGradients<T>{static_cast<T*>(blocks.gradients), norm, maximum});
  });
}

void note_nonfinite(StepState& state, double value) {
  if (!std::isfinite(value) && state.nonfinite_step < 0) state.nonfinite_step = state.step;
}

}  // namespace trainyard
