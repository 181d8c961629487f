#include "train/merged_step.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"

namespace trainyard {
namespace {

PackedForm form_of(const WeightShape& shape, const BlockEntry& entry, const TensorView& packed) {
  const WeightShape::Strides strides = shape.strides();
  return {.data = packed.data,
          .type = packed.type,
          .first = entry.offset,
          .elements = entry.shape.elements(),
          .channels = static_cast<std::uint32_t>(shape.channels),
          .places = static_cast<std::uint32_t>(shape.height * shape.width),
          .filter_stride = strides.filter,
          .channel_stride = strides.channel,
          .place_stride = strides.place,
          .origin = strides.origin};
}

/// Adds a form to those of its parameter; false if there is no room.
bool add(const BlockLayout& blocks, std::int64_t parameter, const WeightShape& shape,
         const TensorView& packed, std::vector<PackedForms>& forms) {
  auto& own = forms[static_cast<std::size_t>(parameter)].form;
  PackedForm* const free = std::ranges::find(own, nullptr, &PackedForm::data);
  if (free == std::end(own)) return false;
  *free = form_of(shape, blocks.parameters[static_cast<std::size_t>(parameter)], packed);
  return true;
}

}  // namespace

std::optional<MergedStep> merge_step(Model& model) {
  const BlockLayout& blocks = model.blocks();
  const std::optional<ResultSums> results = model.train_results().in_one();
  if (!results) return std::nullopt;
  std::vector<PackedForms> weights(blocks.parameters.size()), gradients = weights;
  for (const PackedEntry& entry : blocks.packed.entries) {
    const TensorView packed = blocks.packed.view(model.memory().trained().packed, entry);
    if (!add(blocks, entry.parameter, entry.shape, packed, weights)) return std::nullopt;
  }
  std::size_t bytes = 0;
  for (const auto& [parameter, shape, packed] : model.train().leave_packed()) {
    TY_CHECK(add(blocks, parameter, shape, packed, gradients), "a gradient is that of one step");
    bytes += static_cast<std::size_t>(shape.packed_elements()) * size_of(packed.type);
  }
  const Compute& compute = model.compute();
  return MergedStep{.results = *results,
                    .gradients = {compute.device, compute.queue, gradients},
                    .gradient_bytes = bytes,
                    .weights = {compute.device, compute.queue, weights}};
}

}  // namespace trainyard
