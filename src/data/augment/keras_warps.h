// Random rotation, shear and zoom, as Keras's ImageDataGenerator makes them (keras 2.1.6,
// preprocessing/image.py, random_transform): about its centre, which is half a pixel off.
#pragma once

#include "data/augment/warp.h"

namespace trainyard {

/// Turns by uniform(-degrees, degrees): word 0 of the draw. The map is
/// [[cos, -sin], [sin, cos]] of (y, x).
class Rotate final : public Warp {
 public:
  static constexpr std::string_view kName = "rotate";
  static constexpr std::string_view kHelp = "random rotation";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  Rotate(double degrees, Sampling sampling) : Warp(sampling), degrees_(degrees) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  /// The rotation by an angle in degrees.
  [[nodiscard]] static Affine by(double degrees, const Shape& shape);

 private:
  double degrees_;
};

/// Shears by an angle of uniform(-degrees, degrees), word 0 of the draw:
/// [[1, -sin], [0, cos]] of (y, x). Degrees as of 2017-12-30 (keras #8868); radians before.
class Shear final : public Warp {
 public:
  static constexpr std::string_view kName = "shear";
  static constexpr std::string_view kHelp = "random shear";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  Shear(double degrees, Sampling sampling) : Warp(sampling), degrees_(degrees) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  /// The shear by an angle in degrees.
  [[nodiscard]] static Affine by(double degrees, const Shape& shape);

 private:
  double degrees_;
};

/// Multiplies the distances from the centre at which the image is read by a factor for each axis,
/// uniform(low, high) of words 0 (y) and 1 (x): below 1 the image grows.
class Zoom final : public Warp {
 public:
  static constexpr std::string_view kName = "zoom";
  static constexpr std::string_view kHelp = "random zoom of each axis";
  [[nodiscard]] static std::unique_ptr<Augmentation> read(config::Fields& fields);
  Zoom(double low, double high, Sampling sampling) : Warp(sampling), low_(low), high_(high) {}
  [[nodiscard]] std::string_view name() const override { return kName; }
  [[nodiscard]] Affine map(const SampleKey& key, std::uint32_t draw,
                           const Shape& shape) const override;
  /// The zoom by given factors.
  [[nodiscard]] static Affine by(double y, double x, const Shape& shape);

 private:
  double low_, high_;
};

}  // namespace trainyard
