#include "data/resident_set.h"

#include "base/error.h"

namespace trainyard {

ResidentSet::ResidentSet(Device& device, Queue& queue, const BatchLaunches& launches,
                         const Dataset& set, const Pipeline& pipeline)
    : launches_(launches), bytes_(device, queue, set.bytes()) {
  TY_CHECK(fault(set, pipeline).empty(), fault(set, pipeline));
  const Shape image = set.image_shape();
  source_.set = bytes_.data();
  source_.set_h = static_cast<std::int32_t>(image[1]);
  source_.set_w = static_cast<std::int32_t>(image[2]);
  source_.spatial_steps = static_cast<std::int32_t>(pipeline.spatial_steps());
  for (PixelStep step : pipeline.pixel_steps()) {
    const std::span<const float> values(step.values, static_cast<std::size_t>(step.count));
    step.values = values_.emplace_back(device, queue, values).data();
    source_.pixels[source_.pixel_steps++] = step;
  }
  queue.wait();  // the host's copies may go
}

std::string ResidentSet::fault(const Dataset& set, const Pipeline& pipeline) {
  if (set.bytes().empty()) return "its source keeps no 8-bit images in memory";
  if (pipeline.interpolating_steps() > 1) return "more than one augmentation interpolates";
  if (pipeline.pixel_steps().size() <= kMostPixelSteps) return "";
  return "there are more than " + std::to_string(kMostPixelSteps) + " preprocessing steps";
}

void ResidentSet::gather(const std::int64_t* sample_index, const SpatialStep* spatial,
                         const TensorView& images) const {
  GatherSource from = source_;
  from.sample_index = sample_index;
  from.spatial = spatial;
  launches_.gather(from, images);
}

}  // namespace trainyard
