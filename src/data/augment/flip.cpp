#include "data/augment/flip.h"

namespace trainyard {

namespace {

std::unique_ptr<Augmentation> read_flip(config::Fields& fields, Flip::Axis axis) {
  double probability = 0.5;
  fields.field("probability", probability, "of mirroring a sample", {.minimum = 0, .maximum = 1});
  return std::make_unique<Flip>(axis, probability);
}

}  // namespace

SpatialStep Flip::step(const SampleKey& key, std::uint32_t draw, const Shape& shape) const {
  const Random4 random = augment_words(key, draw);
  const bool flip = uniform01(random.word[0]) < probability_;
  SpatialStep step = identity_step(shape);
  step.mirror_x = flip && axis_ == Axis::horizontal;
  step.mirror_y = flip && axis_ == Axis::vertical;
  return step;
}

std::unique_ptr<Augmentation> read_hflip(config::Fields& fields) {
  return read_flip(fields, Flip::Axis::horizontal);
}

std::unique_ptr<Augmentation> read_vflip(config::Fields& fields) {
  return read_flip(fields, Flip::Axis::vertical);
}

}  // namespace trainyard
