// The optimizers of a run on one device: its own, and those of single parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device/device.h"
#include "model/model.h"
#include "optim/blocks.h"
#include "optim/chunk_spans.h"
#include "optim/optimizer.h"

namespace trainyard {

/// The norms of the parameters of an optimizer that has a trust ratio.
class ParameterNorms {
 public:
  /// `segments`: the number of all parameters.
  ParameterNorms(const Compute& compute, const ChunkSpans& spans, std::size_t segments);
  [[nodiscard]] NormBlocks view() const;

 private:
  DeviceArray<SegmentSpans> segments_;
  DeviceArray<Norms> partials_;
  DeviceArray<Norms> norms_;
};

/// An optimizer and the spans that it updates.
struct OptimizerGroup {
  const Optimizer* optimizer;
  DeviceArray<ChunkSpan> spans;
  std::int64_t chunks = 0;             // of these
  DeviceArray<double> running_number;  // one element, see rules.h
  std::optional<ParameterNorms> norms;
};

/// The parameter of each chunk, by its index in the layout.
[[nodiscard]] std::vector<std::int32_t> make_segment_of_chunk(const BlockLayout& layout);

/// One group per optimizer, that of the run first if a parameter has it. `overrides` and `usual`
/// must outlive the groups.
[[nodiscard]] std::vector<OptimizerGroup> make_optimizer_groups(
    const Model& model, const Optimizer& usual, const ParameterOverrides& overrides);

/// Sets the state of each parameter to the value that it starts from; memory begins as 0.
void start_slots(Model& model, const Optimizer& usual, const ParameterOverrides& overrides);

}  // namespace trainyard
