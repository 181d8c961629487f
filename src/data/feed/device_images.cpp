#include "data/feed/device_images.h"

#include "base/error.h"
#include "data/feed/batch_launches_on.h"
#include "launcher/launch.h"

namespace trainyard {

DeviceImages::DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches,
                           std::int64_t batch, const Dataset& set, const Pipeline& pipeline)
    : launches_(launches), of_batch_(false), bytes_(device, queue, set.held().bytes) {
  TY_CHECK(bytes_.size() > 0, "a set without bytes in memory cannot stay on a device");
  prepare(device, queue, batch, set.image_shape(), pipeline);
}

DeviceImages::DeviceImages(Device& device, Queue& queue, const BatchLaunches& launches,
                           std::int64_t batch, const Shape& image, const Pipeline& pipeline)
    : launches_(launches),
      of_batch_(true),
      bytes_(device, static_cast<std::size_t>(batch * image.elements())) {
  prepare(device, queue, batch, image, pipeline);
}

void DeviceImages::prepare(Device& device, Queue& queue, std::int64_t batch, const Shape& image,
                           const Pipeline& pipeline) {
  TY_CHECK(fault(pipeline).empty(), fault(pipeline));
  source_.set = bytes_.data();
  source_.set_h = static_cast<std::int32_t>(image[1]);
  source_.set_w = static_cast<std::int32_t>(image[2]);
  source_.spatial_transforms = static_cast<std::int32_t>(pipeline.spatial_transforms());
  PixelProgram pixels;
  for (PixelTransform step : pipeline.pixel_transforms()) {
    const std::span<const float> values(step.values, static_cast<std::size_t>(step.count));
    step.values = values_.emplace_back(device, queue, values).data();
    pixels.steps[pixels.count++] = step;
  }
  if (pipeline.reads_samples()) {
    const Shape out = pipeline.output_shape();
    samples_ = std::make_unique<DeviceArray<float>>(
        device, static_cast<std::size_t>(batch * out.elements()));
    if (pipeline.room() > 0) {
      room_ = std::make_unique<DeviceArray<float>>(
          device, static_cast<std::size_t>(batch * pipeline.room()));
    }
    program_ = {.samples = samples_->data(),
                .channels = out[0],
                .plane = out[1] * out[2],
                .width = static_cast<std::int32_t>(out[2]),
                .room = room_ != nullptr ? room_->data() : nullptr,
                .colour_transforms = static_cast<std::int32_t>(pipeline.colour_transforms()),
                .pixels = pixels};
  } else {
    source_.pixels = pixels;
  }
  if (pipeline.whitens()) {
    const std::span<const float> matrix = pipeline.whitening();
    whitening_ = std::make_unique<DeviceArray<float>>(device, queue, matrix);
    whitened_ = std::make_unique<DeviceArray<float>>(device, samples_->size());
  }
  queue.wait();  // the host's copies may be freed
}

std::string DeviceImages::fault(const Pipeline& pipeline) {
  if (pipeline.input_shape()[1] == 0) return "its images differ in size";
  if (pipeline.interpolating_steps() > 1) return "more than one augmentation interpolates";
  if (pipeline.pixel_transforms().size() <= kMostPixelSteps) return "";
  return "there are more than " + std::to_string(kMostPixelSteps) + " preprocessing steps";
}

std::span<std::uint8_t> DeviceImages::incoming() const {
  return of_batch_ ? bytes_.span() : std::span<std::uint8_t>{};
}

void DeviceImages::gather(const DeviceBatch& batch, const TensorView& images) const {
  GatherSource from = source_;
  if (of_batch_) {
    from.set = batch.bytes;
  } else {
    from.sample_index = batch.sample_index;
  }
  from.spatial = batch.spatial;
  if (samples_ != nullptr) return gather_samples(from, batch, images);
  launches_.gather(from, images, batch.words);
}

void DeviceImages::gather_samples(const GatherSource& from, const DeviceBatch& batch,
                                  const TensorView& images) const {
  const Shape shape = shape_of(images.layout);
  launches_.gather(from, {samples_->data(), DType::f32, plain_layout(shape)}, batch.words);
  SampleProgram program = program_;
  program.colours = batch.colours;
  launches_.run(program, shape.n());
  if (whitening_ == nullptr) return launches_.place(samples_->data(), batch.mixes, images, {});
  const std::int64_t elements = program.channels * program.plane;
  launches_.whiten({samples_->data(), whitening_->data(), whitened_->data(), elements}, shape.n());
  launches_.place(whitened_->data(), batch.mixes, images, {});
}

std::unique_ptr<BatchLaunches> make_cpu_batch_launches(int threads) {
  return std::make_unique<BatchLaunchesOn<CpuLauncher>>(CpuLauncher(threads));
}

}  // namespace trainyard
