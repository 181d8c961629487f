#include "data/feed/mixed_batch.h"

#include <utility>

namespace trainyard {
namespace {

/// A label and its weight in a target.
struct TargetPart {
  std::int32_t label;
  float weight;
};

/// Writes sample `at` of a batch with these parts.
void write_target(TargetPart own, TargetPart other, std::size_t at, const MixedBatch& batch) {
  if (other.weight > own.weight) std::swap(own, other);
  const float weight = own.weight + other.weight;
  batch.labels[at] = own.label;
  if (!batch.weights.empty()) batch.weights[at] = weight;
  batch.targets[at] = {};
  if (!(other.weight > 0)) return;
  batch.targets[at] = {static_cast<float>(other.label), other.weight / weight};
}

void mix_targets(float share, std::size_t first, const MixedBatch& batch) {
  const auto part = [&](std::size_t at, float of) {
    return TargetPart{batch.labels[at], batch.weights.empty() ? of : of * batch.weights[at]};
  };
  const std::size_t second = first + 1;
  const float rest = 1.0F - share;
  const TargetPart parts[] = {part(first, share), part(second, rest), part(second, share),
                              part(first, rest)};
  write_target(parts[0], parts[1], first, batch);
  write_target(parts[2], parts[3], second, batch);
}

}  // namespace

void mix_pair(const PairMix& mix, const Shape& shape, std::int64_t pair, const MixedBatch& batch) {
  if (!batch.mixes.empty()) batch.mixes[static_cast<std::size_t>(pair)] = mix;
  const std::int64_t elements = shape.elements();
  float* const first = batch.images.data() + 2 * pair * elements;
  if (!batch.images.empty()) mix_samples(mix, shape, first, first + elements);
  mix_targets(mix.share, static_cast<std::size_t>(2 * pair), batch);
}

}  // namespace trainyard
