// What an augmentation is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "config/fields.h"
#include "data/augment/colour_transform.h"
#include "data/augment/draws.h"
#include "data/augment/spatial_transform.h"
#include "tensor/shape.h"

namespace trainyard {

class Warp;

/// out = in, of `shape`.
[[nodiscard]] inline SpatialTransform identity_step(const Shape& shape) {
  const auto height = static_cast<std::int32_t>(shape[1]);
  const auto width = static_cast<std::int32_t>(shape[2]);
  return {.in_h = height, .in_w = width, .out_h = height, .out_w = width};
}

/// One augmentation. `draw` is its place in the list; it takes its random numbers from
/// augment_words(key, draw) alone.
class Augmentation {
 public:
  virtual ~Augmentation() = default;
  /// "hflip".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The output shape for an input of `shape` ([c, h, w]; h and w are 0 if they differ from sample
  /// to sample, and stay so unless the augmentation gives all samples one size). Throws
  /// Error{config} for a shape that it cannot take.
  [[nodiscard]] virtual Shape output_shape(const Shape& shape) const { return shape; }
  /// Its effect on a sample of `shape`.
  [[nodiscard]] virtual SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                              const Shape& shape) const = 0;
  /// Its effect in evaluation (pad_crop: a centre crop); by default a copy.
  [[nodiscard]] virtual SpatialTransform eval_step(const Shape& shape) const {
    TY_CHECK(output_shape(shape) == shape, "an augmentation that resizes needs its own evaluation");
    return identity_step(shape);
  }
  /// True if its steps may read between pixels.
  [[nodiscard]] virtual bool interpolates() const { return false; }
  /// True if it does the same before and after a change of colours, for which all samples are
  /// alike.
  [[nodiscard]] virtual bool commutes_with_colours() const { return false; }
  /// Colour steps of each sample; those of a ColourAugmentation.
  [[nodiscard]] virtual std::int32_t colour_transforms() const { return 0; }
  /// True if it reads values as bytes, so that the data must be of 8 bits.
  [[nodiscard]] virtual bool needs_bytes() const { return false; }
  /// True if they need the room of a SampleView.
  [[nodiscard]] virtual bool needs_room() const { return false; }
  /// True if they may move pixels, so that nothing else that does may follow.
  [[nodiscard]] virtual bool moves_pixels() const { return false; }
  /// Writes them, for a sample of `shape`. In evaluation there are none.
  virtual void colours(const SampleKey& /*key*/, std::uint32_t /*draw*/, const Shape& /*shape*/,
                       ColourTransform* /*out*/) const {}
  /// This, if it is an affine map that may be composed with its neighbours; else null.
  [[nodiscard]] virtual const Warp* warp() const { return nullptr; }

  /// When it acts: after `from` finished epochs of training and before `until` (0: to the end).
  /// Otherwise it does what it does in evaluation.
  std::int64_t from = 0, until = 0;
  [[nodiscard]] bool acts(const SampleKey& key) const {
    const auto epoch = static_cast<std::int64_t>(key.epoch);
    return epoch >= from && (until == 0 || epoch < until);
  }
};
/// An augmentation that is changes of the sample alone; the list is in augmentations.h.
class ColourAugmentation : public Augmentation {
 public:
  [[nodiscard]] std::int32_t colour_transforms() const override { return 1; }
  [[nodiscard]] SpatialTransform step(const SampleKey& /*key*/, std::uint32_t /*draw*/,
                                      const Shape& shape) const final {
    return identity_step(shape);
  }
};

/// Every augmentation, in the order of the reference. The list is in data/kinds.cpp.
[[nodiscard]] std::span<const config::Kind<Augmentation>> augmentation_kinds();

}  // namespace trainyard
