#include "data/augment/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/augment/image_loops.h"
#include "data/augment/warp.h"
#include "data/augment/whitening.h"
#include "data/sets/epoch_order.h"

namespace trainyard {
namespace {

/// The shape of a step's output.
Shape after(const SpatialTransform& step, const Shape& shape) {
  return {shape[0], step.out_h, step.out_w};
}

[[noreturn]] void refuse_mixed(const Augmentation& first, const Augmentation& second) {
  throw Error(ErrorKind::config,
              "augment: '" + std::string(first.name()) + "' and '" + std::string(second.name()) +
                  "' follow one another, so they are one warp, but differ in 'fill', 'cval' or "
                  "'interpolation'; give both the same");
}

[[noreturn]] void refuse_order(const Augmentation& moving, const Augmentation& colour) {
  throw Error(ErrorKind::config,
              "augment: '" + std::string(moving.name()) + "' comes after '" +
                  std::string(colour.name()) +
                  "', whose changes are made after pixels have moved; move it up");
}

}  // namespace

float* ImageScratch::next(std::int64_t elements) {
  last_ = 1 - last_;
  std::vector<float>& image = images_[last_];
  if (std::ssize(image) < elements) image.resize(static_cast<std::size_t>(elements));
  return image.data();
}

std::span<ColourTransform> ImageScratch::colours(std::int64_t count) {
  colours_.resize(static_cast<std::size_t>(count));
  return colours_;
}

Pipeline::Pipeline(Shape image, std::vector<std::shared_ptr<const Augmentation>> augment,
                   std::vector<std::shared_ptr<const Preprocess>> preprocess)
    : image_(image),
      output_(image),
      augment_(std::move(augment)),
      preprocess_(std::move(preprocess)) {
  for (std::size_t i = 0; i < augment_.size(); ++i) add(i);
  check_size();
  take_whitening();
}

/// Takes the whitening from the list of preprocessing steps, which it ends.
void Pipeline::take_whitening() {
  const auto found = std::ranges::find_if(
      preprocess_, [](const auto& step) { return step->whitens().has_value(); });
  if (found == preprocess_.end()) return;
  if (found + 1 != preprocess_.end()) {
    throw Error(ErrorKind::config, "preprocess: '" + std::string((*found)->name()) +
                                       "' must be the last step; move it down");
  }
  whitens_ = (*found)->whitens();
  preprocess_.pop_back();
}

void Pipeline::add(std::size_t i) {
  const Augmentation& added = *augment_[i];
  output_ = added.output_shape(output_);
  if (added.colour_transforms() > 0) {
    colours_.push_back(static_cast<std::uint32_t>(i));
    colour_steps_ += added.colour_transforms();
    needs_room_ = needs_room_ || added.needs_room();
    return;
  }
  for (const std::uint32_t before : colours_) {
    const Augmentation& colour = *augment_[before];
    if (colour.moves_pixels() || !added.commutes_with_colours()) refuse_order(added, colour);
  }
  if (joins_stage(i)) {
    ++stages_.back().count;
  } else {
    stages_.push_back({static_cast<std::uint32_t>(i), 1});
  }
}

/// True if the augmentation at `i` is a warp that continues the one before it.
bool Pipeline::joins_stage(std::size_t i) const {
  if (i == 0) return false;
  const Warp* const before = augment_[i - 1]->warp();
  const Warp* const warp = augment_[i]->warp();
  if (before == nullptr || warp == nullptr) return false;
  if (before->sampling() != warp->sampling()) refuse_mixed(*before, *warp);
  return true;
}

void Pipeline::check_size() const {
  if (output_[1] > 0 && output_[2] > 0) return;
  throw Error(ErrorKind::config,
              "the data's images differ in size, and 'augment' does not make them equal; "
              "add 'resize: [h, w]', 'random_resized_crop: size' or 'center_crop: size'");
}

bool Pipeline::needs_statistics() const {
  return std::any_of(preprocess_.begin(), preprocess_.end(),
                     [](const auto& step) { return step->needs_statistics(); });
}

void Pipeline::prepare(Statistics statistics) {
  for (auto& step : preprocess_) step = step->prepared(statistics, output_);
}

template <class MapOf>
SpatialTransform Pipeline::joined(const Stage& stage, const Shape& shape,
                                  const MapOf& map_of) const {
  Affine map;
  Shape current = shape;
  for (std::uint32_t i = stage.first; i < stage.first + stage.count; ++i) {
    map = composed(map, map_of(*augment_[i]->warp(), i, current));
    current = augment_[i]->output_shape(current);
  }
  return warp_step(map, augment_[stage.first]->warp()->sampling(), shape, current);
}

SpatialTransform Pipeline::train_step(const Stage& stage, const SampleKey& key,
                                      const Shape& shape) const {
  const Augmentation& only = *augment_[stage.first];
  if (stage.count == 1) {
    return only.acts(key) ? only.step(key, stage.first, shape) : only.eval_step(shape);
  }
  return joined(stage, shape, [&](const Warp& warp, std::uint32_t draw, const Shape& in) {
    return warp.acts(key) ? warp.map(key, draw, in) : warp.eval_map(in);
  });
}

SpatialTransform Pipeline::eval_step(const Stage& stage, const Shape& shape) const {
  if (stage.count == 1) return augment_[stage.first]->eval_step(shape);
  return joined(stage, shape,
                [](const Warp& warp, std::uint32_t, const Shape& in) { return warp.eval_map(in); });
}

template <class StepOf>
void Pipeline::fill(const Dataset& set, std::int64_t index, ImageScratch& scratch, float* out,
                    const StepOf& step_of) const {
  Shape shape = set.sample_shape(index);
  float* current = stages_.empty() ? out : scratch.next(shape.elements());
  set.read(index, current);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const SpatialTransform step = step_of(stages_[i], shape);
    shape = after(step, shape);
    float* const next = i + 1 == stages_.size() ? out : scratch.next(shape.elements());
    run_step(step, shape[0], current, next);
    current = next;
  }
}

/// Changes the colours of a sample in place, and preprocesses it.
void Pipeline::finish(std::span<const ColourTransform> colours, ImageScratch& scratch,
                      float* out) const {
  SampleProgram program{.samples = out,
                        .channels = output_[0],
                        .plane = output_[1] * output_[2],
                        .width = static_cast<std::int32_t>(output_[2]),
                        .room = needs_room_ ? scratch.next(room()) : nullptr,
                        .colours = colours.data(),
                        .colour_transforms = static_cast<std::int32_t>(colours.size()),
                        .pixels = {}};
  for (std::size_t first = 0; first < preprocess_.size() || first == 0; first += kMostPixelSteps) {
    program.pixels.count = 0;
    for (std::size_t i = first; i < preprocess_.size() && i < first + kMostPixelSteps; ++i) {
      program.pixels.steps[program.pixels.count++] = preprocess_[i]->step();
    }
    run_program(program);
    program.colour_transforms = 0;
  }
}

void Pipeline::fill_train(const Dataset& set, const SampleKey& key, ImageScratch& scratch,
                          float* out) const {
  fill(set, index_of_drawn(key.index), scratch, out,
       [&](const Stage& stage, const Shape& shape) { return train_step(stage, key, shape); });
  const std::span<ColourTransform> colours = scratch.colours(colour_steps_);
  train_colours(key, colours.data());
  finish(colours, scratch, out);
}

void Pipeline::fill_eval(const Dataset& set, std::int64_t index, ImageScratch& scratch,
                         float* out) const {
  fill(set, index, scratch, out,
       [&](const Stage& stage, const Shape& shape) { return eval_step(stage, shape); });
  finish({}, scratch, out);
}

void Pipeline::whiten(std::int64_t count, ImageScratch& scratch, float* samples) const {
  if (!whitens_) return;
  const std::int64_t elements = output_.elements();
  TY_CHECK(std::ssize(whitening_) == elements * elements, "whitening without its matrix");
  whiten_samples(whitening_.data(), elements, count, samples,
                 scratch.next(whitening_room(elements)));
}

void Pipeline::train_steps(const SampleKey& key, const Shape& shape, SpatialTransform* out) const {
  Shape current = shape;
  for (const Stage& stage : stages_) {
    *out = train_step(stage, key, current);
    current = after(*out++, current);
  }
}

void Pipeline::eval_steps(const Shape& shape, SpatialTransform* out) const {
  Shape current = shape;
  for (const Stage& stage : stages_) {
    *out = eval_step(stage, current);
    current = after(*out++, current);
  }
}

void Pipeline::train_colours(const SampleKey& key, ColourTransform* out) const {
  for (const std::uint32_t i : colours_) {
    const std::int32_t count = augment_[i]->colour_transforms();
    std::fill_n(out, count, ColourTransform{});
    if (augment_[i]->acts(key)) augment_[i]->colours(key, i, output_, out);
    out += count;
  }
}

void Pipeline::eval_colours(ColourTransform* out) const {
  std::fill_n(out, colour_steps_, ColourTransform{});
}

bool Pipeline::reads_samples() const {
  return colour_steps_ > 0 || whitens_ || mixing_ ||
         std::ranges::any_of(preprocess_,
                             [](const auto& step) { return step->step().samplewise(); });
}

std::int64_t Pipeline::interpolating_steps() const {
  return std::ranges::count_if(
      stages_, [this](const Stage& stage) { return augment_[stage.first]->interpolates(); });
}

std::vector<PixelTransform> Pipeline::pixel_transforms() const {
  std::vector<PixelTransform> steps;
  for (const auto& step : preprocess_) steps.push_back(step->step());
  return steps;
}

}  // namespace trainyard
