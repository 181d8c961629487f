#include "data/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/image_loops.h"

namespace trainyard {

SpatialStep identity_step(const Shape& shape) {
  const auto height = static_cast<std::int32_t>(shape[1]),
             width = static_cast<std::int32_t>(shape[2]);
  return {.in_h = height, .in_w = width, .out_h = height, .out_w = width};
}

SpatialStep Augmentation::eval_step(const Shape& shape) const {
  TY_CHECK(output_shape(shape) == shape, "an augmentation that resizes needs its own evaluation");
  return identity_step(shape);
}

Pipeline::Pipeline(Shape image, std::vector<std::shared_ptr<const Augmentation>> augment,
                   std::vector<std::shared_ptr<const Preprocess>> preprocess)
    : output_(image),
      largest_(image.elements()),
      augment_(std::move(augment)),
      preprocess_(std::move(preprocess)) {
  for (const auto& augmentation : augment_) {
    shapes_.push_back(output_);
    output_ = augmentation->output_shape(output_);
    largest_ = std::max(largest_, output_.elements());
  }
}

bool Pipeline::needs_statistics() const {
  return std::any_of(preprocess_.begin(), preprocess_.end(),
                     [](const auto& step) { return step->needs_statistics(); });
}

void Pipeline::prepare(Statistics statistics) {
  for (auto& step : preprocess_) step = step->prepared(statistics, output_);
}

template <class StepOf>
void Pipeline::fill(const Dataset& set, std::int64_t index, float* scratch, float* out,
                    const StepOf& step_of) const {
  const std::int64_t channels = output_[0];
  float* current = augment_.empty() ? out : scratch;
  set.read(index, current);
  for (std::size_t i = 0; i < augment_.size(); ++i) {
    float* other = scratch + (i % 2 == 0 ? largest_ : 0);
    float* next = i + 1 == augment_.size() ? out : other;
    run_step(step_of(i), channels, current, next);
    current = next;
  }
  for (const auto& step : preprocess_) {
    run_step(step->step(), channels, output_[1] * output_[2], out);
  }
}

void Pipeline::fill_train(const Dataset& set, const SampleKey& key, float* scratch,
                          float* out) const {
  fill(set, key.index, scratch, out, [&](std::size_t i) { return train_step(i, key); });
}

void Pipeline::fill_eval(const Dataset& set, std::int64_t index, float* scratch, float* out) const {
  fill(set, index, scratch, out, [&](std::size_t i) { return augment_[i]->eval_step(shapes_[i]); });
}

void Pipeline::train_steps(const SampleKey& key, SpatialStep* out) const {
  for (std::size_t i = 0; i < augment_.size(); ++i) out[i] = train_step(i, key);
}

void Pipeline::eval_steps(SpatialStep* out) const {
  for (std::size_t i = 0; i < augment_.size(); ++i) out[i] = augment_[i]->eval_step(shapes_[i]);
}

std::int64_t Pipeline::interpolating_steps() const {
  std::vector<SpatialStep> steps(augment_.size());
  train_steps({}, steps.data());
  return std::ranges::count_if(steps, &SpatialStep::interpolates);
}

std::vector<PixelStep> Pipeline::pixel_steps() const {
  std::vector<PixelStep> steps;
  for (const auto& step : preprocess_) steps.push_back(step->step());
  return steps;
}

}  // namespace trainyard
