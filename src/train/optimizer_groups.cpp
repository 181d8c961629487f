#include "train/optimizer_groups.h"

#include <algorithm>

#include "optim/gradient.h"

namespace trainyard {
namespace {

/// An optimizer with its chunks, on the host.
struct ChunksOf {
  const Optimizer* optimizer;
  std::vector<std::int32_t> chunks;
};

std::int64_t padded(const BlockEntry& entry) {
  return (entry.shape.elements() + kChunk - 1) / kChunk * kChunk;
}

std::vector<ChunksOf> chunks_by_optimizer(const Model& model, const Optimizer& usual,
                                          const ParameterOverrides& overrides) {
  std::vector<ChunksOf> list{{&usual, {}}};
  for (const BlockEntry& entry : model.blocks().parameters) {
    const Optimizer* own = &optimizer_of(entry.name, usual, overrides);
    auto found = std::ranges::find(list, own, &ChunksOf::optimizer);
    if (found == list.end()) found = list.insert(found, {own, {}});
    for (std::int64_t at = 0; at < padded(entry); at += kChunk) {
      found->chunks.push_back(static_cast<std::int32_t>((entry.offset + at) / kChunk));
    }
  }
  if (list[0].chunks.empty() && list.size() > 1) list.erase(list.begin());
  return list;
}

}  // namespace

ParameterNorms::ParameterNorms(const Compute& compute, const ChunkSpans& spans,
                               std::size_t segments)
    : segments_(compute.device, compute.queue, spans.segments),
      partials_(compute.device, spans.spans.size()),
      norms_(compute.device, segments) {}

NormBlocks ParameterNorms::view() const {
  return {.segments = segments_.data(),
          .segment_count = static_cast<std::int64_t>(segments_.size()),
          .partials = partials_.data(),
          .norms = norms_.data()};
}

std::vector<std::int32_t> make_segment_of_chunk(const BlockLayout& layout) {
  std::vector<std::int32_t> segments;
  for (std::size_t i = 0; i < layout.parameters.size(); ++i) {
    segments.insert(segments.end(), static_cast<std::size_t>(padded(layout.parameters[i]) / kChunk),
                    static_cast<std::int32_t>(i));
  }
  return segments;
}

std::vector<OptimizerGroup> make_optimizer_groups(const Model& model, const Optimizer& usual,
                                                  const ParameterOverrides& overrides) {
  const Compute& compute = model.compute();
  const std::vector<ChunksOf> list = chunks_by_optimizer(model, usual, overrides);
  const std::vector<std::int32_t> segments = make_segment_of_chunk(model.blocks());
  std::vector<OptimizerGroup> groups;
  for (const ChunksOf& own : list) {
    const ChunkSpans spans = chunk_spans(segments, own.chunks);
    OptimizerGroup& group = groups.emplace_back(
        OptimizerGroup{own.optimizer,
                       DeviceArray<ChunkSpan>(compute.device, compute.queue, spans.spans),
                       static_cast<std::int64_t>(own.chunks.size()),
                       DeviceArray<double>(compute.device, 1),
                       {}});
    if (needs_norms(own.optimizer->rule)) {
      group.norms.emplace(compute, spans, model.blocks().parameters.size());
    }
  }
  return groups;
}

void start_slots(Model& model, const Optimizer& usual, const ParameterOverrides& overrides) {
  const ModelMemory& memory = model.memory();
  for (const BlockEntry& entry : model.blocks().parameters) {
    const std::vector<OptimizerSlot>& slots = optimizer_of(entry.name, usual, overrides).slots;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (slots[slot].start == 0) continue;
      with_arithmetic(memory.type(), [&]<class T>(T) {
        const std::vector<T> values(static_cast<std::size_t>(padded(entry)),
                                    static_cast<T>(slots[slot].start));
        T* const block = reinterpret_cast<T*>(memory.slot(static_cast<int>(slot)));
        model.compute().queue.copy_from_host(block + entry.offset, values.data(),
                                             values.size() * sizeof(T));
        model.compute().queue.wait();
      });
    }
  }
}

}  // namespace trainyard
