// Bytes that a launch of a functor reads and writes: one line a functor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/elementwise/bias.h"
#include "compute/norm/bn.h"
#include "data/feed/gather.h"
#include "launcher/siblings.h"
#include "optim/average.h"
#include "optim/gradient.h"
#include "optim/gradient_sums.h"
#include "optim/result_sums.h"
#include "optim/running_statistics.h"
#include "optim/segment_norms.h"
#include "optim/update.h"
#include "tensor/launch_limits.h"

namespace trainyard {

/// Bytes of a functor in none of the lines below: its step's tensors, read or written once each.
template <class F>
std::optional<std::size_t> moved_bytes(const F& /*f*/, std::int64_t /*calls*/) {
  return std::nullopt;
}

/// `tensors` of `elements` elements of type T.
template <class T>
std::size_t moved(std::int64_t elements, std::int64_t tensors) {
  return static_cast<std::size_t>(elements * tensors) * sizeof(T);
}

// Batch norm. A call of a functor of columns() is one row of one column.
template <class T, int P>
std::optional<std::size_t> moved_bytes(const BatchMoments<T, P>&, std::int64_t calls) {
  return moved<T>(calls, 1);
}
template <class T, int P, bool kRelu, bool kResidual>
std::optional<std::size_t> moved_bytes(const NormaliseRows<T, P, kRelu, kResidual>& f,
                                       std::int64_t /*calls*/) {
  return moved<T>(f.to.count * f.to.padded, kResidual ? 3 : 2);
}
template <class T, int P, ReluCut kCut>
std::optional<std::size_t> moved_bytes(const GradientSums<T, P, kCut>&, std::int64_t calls) {
  return moved<T>(calls, kCut == ReluCut::kept ? 4 : kCut == ReluCut::by_output ? 3 : 2);
}
template <class T, int P, bool kRelu, bool kAdds>
std::optional<std::size_t> moved_bytes(const InputGradientRows<T, P, kRelu, kAdds>& f,
                                       std::int64_t /*calls*/) {
  return moved<T>(f.tensors.input.count * f.tensors.input.padded, kAdds ? 4 : 3);
}

// Batches. A call is a pixel, or 8 bytes of what is copied.
inline std::optional<std::size_t> moved_bytes(const CopyWords& f, std::int64_t /*calls*/) {
  return moved<std::uint64_t>(f.count, 2);
}
template <class T>
std::optional<std::size_t> moved_bytes(const GatherBatch<T>& f, std::int64_t pixels) {
  return moved<std::uint8_t>(pixels, f.layout.extent[1]) +
         moved<T>(pixels, f.layout.padded_channels);
}
template <class T>
std::optional<std::size_t> moved_bytes(const PlaceBatch<T>& f, std::int64_t pixels) {
  const std::int64_t samples =
      f.mixes == nullptr ? 1 : 2;  // a pixel's own and the other of its pair
  return moved<float>(pixels, samples * f.layout.extent[1]) +
         moved<T>(pixels, f.layout.padded_channels);
}

// Biases.
template <class T, int P, bool kRelu>
std::optional<std::size_t> moved_bytes(const AddBiasRows<T, P, kRelu>&, std::int64_t calls) {
  return moved<T>(calls * P, 2);
}
template <class T, int P>
std::optional<std::size_t> moved_bytes(const BiasGradientRows<T, P>&, std::int64_t calls) {
  return moved<T>(calls, 1);
}
template <class T, int P>
std::optional<std::size_t> moved_bytes(const ReluBiasRows<T, P>&, std::int64_t calls) {
  return moved<T>(calls, 3);
}

// Gradients and the update. A row is a span of chunks, or a column of results.
inline std::optional<std::size_t> moved_bytes(const ResultSums& f, std::int64_t columns) {
  return moved<float>(f.table.samples * columns, 1);
}
template <class T>
std::optional<std::size_t> moved_bytes(const AddGradients<T>& f, std::int64_t calls) {
  return moved<T>(calls, f.first ? 2 : 3);
}
/// Without L2 terms: which segments have one is known to the device alone.
template <class T>
std::optional<std::size_t> moved_bytes(const FinishGradients<T>& f, std::int64_t /*spans*/) {
  const bool changes = f.task.unscale || f.task.weights != nullptr;
  return moved<T>(f.chunks * kChunk, changes ? 3 : 1) + moved<T>(f.task.biased_count * kChunk, 3) +
         f.task.packed.bytes + moved_bytes(f.task.results, f.task.results.table.columns()).value();
}
template <class T, class Rule>
std::optional<std::size_t> moved_bytes(const DirectSpan<T, Rule>& f, std::int64_t /*spans*/) {
  return moved<T>(f.all.chunks * kChunk, 3 + 2 * DirectSpan<T, Rule>::All::kSlots);
}
template <class T, class Rule>
std::optional<std::size_t> moved_bytes(const UpdateSpan<T, Rule>& f, std::int64_t /*spans*/) {
  return moved<T>(f.all.chunks * kChunk, 3 + 2 * UpdateSpan<T, Rule>::All::kSlots) + f.packed.bytes;
}
template <class T>
std::optional<std::size_t> moved_bytes(const UpdateRunning<T>&, std::int64_t chunks) {
  return moved<T>(chunks * kChunk, 3);
}
template <class T>
std::optional<std::size_t> moved_bytes(const AverageChunks<T>& f, std::int64_t /*rows*/) {
  return moved<T>(f.chunks * kChunk, 3);
}
template <class T>
std::optional<std::size_t> moved_bytes(const SpanSquares<T>& f, std::int64_t /*spans*/) {
  return moved<T>(f.chunks * kChunk, 2);
}
template <class First, class Second>
std::optional<std::size_t> moved_bytes(const InTurn<First, Second>& f, std::int64_t rows) {
  return moved_bytes(f.first, f.count).value() + moved_bytes(f.second, rows - f.count).value();
}
template <template <class> class F, class T>
requires requires(const F<T>& f) { f.batch.columns; }
std::optional<std::size_t> moved_bytes(const F<T>& f, std::int64_t rows) {
  return moved<T>(rows * f.columns(), F<T>::kMovedTensors);
}
/// A few numbers for each parameter.
inline std::optional<std::size_t> moved_bytes(const SegmentRoots&, std::int64_t segments) {
  return moved<Norms>(segments, 2);
}

}  // namespace trainyard
