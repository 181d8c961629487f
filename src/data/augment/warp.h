// Augmentations that are affine maps of the plane.
#pragma once

#include "data/augment/augmentation.h"

namespace trainyard {

enum class Interpolation { nearest, bilinear };
[[nodiscard]] constexpr config::Words<Interpolation> words(Interpolation) {
  return {"nearest", "bilinear"};
}
[[nodiscard]] constexpr config::Words<Fill> words(Fill) {
  return {"nearest", "reflect", "wrap", "constant", "mirror"};
}

/// How a warp reads between pixels and beyond the image. The image is extended by the fill rule and
/// then sampled, which is scipy's grid-constant and grid-wrap: scipy's plain `constant` gives the
/// constant wherever a coordinate is outside, even by a fraction of a pixel, and its plain `wrap`
/// has the period n - 1.
struct Sampling {
  Fill fill = Fill::nearest;
  double cval = 0;  // the value of Fill::constant
  Interpolation interpolation = Interpolation::nearest;
  bool operator==(const Sampling&) const = default;
};
/// Declares `fill`, `cval` and `interpolation`.
void declare(config::Fields& fields, Sampling& sampling);

/// An augmentation that is an affine map. Consecutive ones of equal sampling are composed into one
/// step (Pipeline), so that an image is interpolated once, as Keras does it.
class Warp : public Augmentation {
 public:
  explicit Warp(Sampling sampling) : sampling_(sampling) {}
  [[nodiscard]] const Sampling& sampling() const { return sampling_; }
  /// From a pixel of the output to its place in the input, of a sample of `shape`.
  [[nodiscard]] virtual Affine map(const SampleKey& key, std::uint32_t draw,
                                   const Shape& shape) const = 0;
  /// The map in evaluation; by default none.
  [[nodiscard]] virtual Affine eval_map(const Shape& shape) const;
  [[nodiscard]] SpatialTransform step(const SampleKey& key, std::uint32_t draw,
                                      const Shape& shape) const override;
  [[nodiscard]] SpatialTransform eval_step(const Shape& shape) const override;
  [[nodiscard]] bool interpolates() const override {
    return sampling_.interpolation == Interpolation::bilinear;
  }
  [[nodiscard]] const Warp* warp() const override { return this; }

 private:
  Sampling sampling_;
};

/// The map p -> outer(inner(p)).
[[nodiscard]] Affine composed(const Affine& outer, const Affine& inner);
/// From out pixels to in pixels of an axis stretched from `in` to `out`, edge to edge.
[[nodiscard]] Affine resized(const Shape& in, const Shape& out);
/// The step out(p) = in(map(p)) between images of these shapes; a copy if nothing moves.
[[nodiscard]] SpatialTransform warp_step(const Affine& map, const Sampling& sampling,
                                         const Shape& in, const Shape& out);

}  // namespace trainyard
