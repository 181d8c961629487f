#include "data/device_images.h"

#include "base/error.h"

namespace trainyard {

DeviceImages::DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches,
                           const Dataset& set, const Pipeline& pipeline)
    : launches_(launches), of_batch_(false), bytes_(device, queue, set.held().bytes) {
  TY_CHECK(bytes_.size() > 0, "a set without bytes in memory cannot stay on a device");
  prepare(device, queue, set.image_shape(), pipeline);
}

DeviceImages::DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches,
                           std::int64_t batch, const Shape& image, const Pipeline& pipeline)
    : launches_(launches),
      of_batch_(true),
      bytes_(device, static_cast<std::size_t>(batch * image.elements())) {
  prepare(device, queue, image, pipeline);
}

void DeviceImages::prepare(Device& device, Queue& queue, const Shape& image,
                           const Pipeline& pipeline) {
  TY_CHECK(fault(pipeline).empty(), fault(pipeline));
  source_.set = bytes_.data();
  source_.set_h = static_cast<std::int32_t>(image[1]);
  source_.set_w = static_cast<std::int32_t>(image[2]);
  source_.spatial_steps = static_cast<std::int32_t>(pipeline.spatial_steps());
  for (PixelStep step : pipeline.pixel_steps()) {
    const std::span<const float> values(step.values, static_cast<std::size_t>(step.count));
    step.values = values_.emplace_back(device, queue, values).data();
    source_.pixels[source_.pixel_steps++] = step;
  }
  queue.wait();  // the host's copies may be freed
}

std::string DeviceImages::fault(const Pipeline& pipeline) {
  if (pipeline.input_shape()[1] == 0) return "its pictures have sizes of their own";
  if (pipeline.interpolating_steps() > 1) return "more than one augmentation interpolates";
  if (pipeline.pixel_steps().size() <= kMostPixelSteps) return "";
  return "there are more than " + std::to_string(kMostPixelSteps) + " preprocessing steps";
}

std::span<std::uint8_t> DeviceImages::incoming() const {
  return of_batch_ ? bytes_.span() : std::span<std::uint8_t>{};
}

void DeviceImages::gather(const std::int64_t* sample_index, const SpatialStep* spatial,
                          const TensorView& images) const {
  GatherSource from = source_;
  from.sample_index = of_batch_ ? nullptr : sample_index;
  from.spatial = spatial;
  launches_.gather(from, images);
}

}  // namespace trainyard
