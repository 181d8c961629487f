// Flat blocks with made-up values, for the tests.
#pragma once

#include <cmath>
#include <vector>

#include "optim/chunk_spans.h"
#include "optim/gradient.h"
#include "optim/optimizer.h"

namespace trainyard::test {

/// Blocks of `chunks` chunks of type T. Chunk c belongs to segment c % segments.
template <class T>
struct Blocks {
  std::vector<T> weights, gradients;
  std::vector<std::vector<T>> slots;
  std::vector<Segment> segments;
  std::vector<std::int32_t> segment_of_chunk;
  StepState state;
  double running_number = 1;
  ChunkSpans spans;
  std::vector<double> sums;  // by span
  std::uint32_t finished = 0;
  std::vector<Norms> partials, norms;

  Blocks(std::int64_t chunks, std::vector<Segment> of, std::size_t slot_count)
      : segments(std::move(of)) {
    const auto n = static_cast<std::size_t>(chunks * kChunk);
    weights.resize(n);
    gradients.resize(n);
    slots.assign(slot_count, std::vector<T>(n));
    for (std::int64_t c = 0; c < chunks; ++c) {
      segment_of_chunk.push_back(static_cast<std::int32_t>(c) %
                                 static_cast<std::int32_t>(segments.size()));
    }
    spans = chunk_spans(segment_of_chunk);
    sums.resize(spans.spans.size());
    partials.resize(spans.spans.size());
    norms.resize(segments.size());
    state.rate = 0.1;
    set_weights();
    set_gradients(0);
  }

  void set_weights() {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<T>(std::sin(static_cast<double>(i) + 0.5));
    }
  }
  void set_gradients(int step) {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      gradients[i] = static_cast<T>(std::cos(1.7 * static_cast<double>(i) + step));
    }
  }
  [[nodiscard]] const Segment& segment_of(std::size_t i) const {
    return segments[static_cast<std::size_t>(segment_of_chunk[i / kChunk])];
  }
  [[nodiscard]] UpdateBlocks view() {
    UpdateBlocks blocks;
    blocks.type = DTypeOf<T>::value;
    blocks.weights = weights.data();
    blocks.gradients = gradients.data();
    for (auto& slot : slots) blocks.slots.push_back(slot.data());
    blocks.segments = segments.data();
    blocks.spans = spans.spans.data();
    blocks.span_count = static_cast<std::int64_t>(spans.spans.size());
    blocks.state = &state;
    blocks.running_number = &running_number;
    blocks.norms = {.segments = spans.segments.data(),
                    .segment_count = static_cast<std::int64_t>(spans.segments.size()),
                    .partials = partials.data(),
                    .norms = norms.data()};
    return blocks;
  }
  /// The end of the gradients, whose norm it writes.
  [[nodiscard]] GradientFinish finish(double* norm) {
    return {.sums = run_sums(), .norm = norm, .loss = &loss, .state = &state};
  }
  [[nodiscard]] SpanSums run_sums() { return {sums.data(), &finished}; }

  double loss = 1;
};

}  // namespace trainyard::test
