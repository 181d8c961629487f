// Preprocessing and augmentation of one sample.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/fields.h"
#include "data/dataset.h"

namespace trainyard {

/// Statistics of the training split, computed once and kept with the checkpoint.
struct Statistics {
  std::vector<float> mean_image;  // [c, h, w]
  std::vector<float> mean;        // [c]
  std::vector<float> deviation;   // [c]
};

/// Which random draws a sample gets: pure functions of these.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;   // finished epochs
  std::int64_t index = 0;    // sample index in the data set
};

/// One augmentation. `draw` numbers the random calls so that two augmentations never share one.
class Augmentation {
 public:
  virtual ~Augmentation() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The shape that comes out of one of `shape` ([c, h, w]).
  [[nodiscard]] virtual Shape output_shape(const Shape& shape) const { return shape; }
  /// From `in` to `out` (never the same memory).
  virtual void apply(const SampleKey& key, std::uint32_t draw, const Shape& shape, const float* in,
                     float* out) const = 0;
  /// What evaluation does in its place (pad_crop: a centre crop); by default nothing.
  virtual void apply_eval(const Shape& shape, const float* in, float* out) const;
};
[[nodiscard]] std::span<const config::Kind<Augmentation>> augmentation_kinds();

/// One preprocessing step (scale, mean_image, mean_rgb, std_rgb).
class Preprocess {
 public:
  virtual ~Preprocess() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Takes what it needs of the training split's statistics.
  virtual void prepare(const Statistics& statistics, const Shape& shape) = 0;
  /// In place.
  virtual void apply(const Shape& shape, float* image) const = 0;
};
[[nodiscard]] std::span<const config::Kind<Preprocess>> preprocess_kinds();

/// Augmentation in order, then preprocessing in order: the keras2 profile's order (augment on raw
/// values, then standardise).
class Pipeline {
 public:
  Pipeline(Shape image, std::vector<std::unique_ptr<Augmentation>> augment,
           std::vector<std::unique_ptr<Preprocess>> preprocess);
  [[nodiscard]] Shape output_shape() const;
  /// Fills `out` ([c, h, w] of output_shape) with sample `key.index` of `set`. `scratch` holds two
  /// images of the largest shape in between, see scratch_elements().
  void fill_train(const Dataset& set, const SampleKey& key, float* scratch, float* out) const;
  void fill_eval(const Dataset& set, std::int64_t index, float* scratch, float* out) const;
  [[nodiscard]] std::int64_t scratch_elements() const;

 private:
  Shape image_;
  std::vector<std::unique_ptr<Augmentation>> augment_;
  std::vector<std::unique_ptr<Preprocess>> preprocess_;
};

/// Mean image, mean and population standard deviation per channel over the whole set, summed in
/// double in a fixed order.
[[nodiscard]] Statistics compute_statistics(const Dataset& set, int threads);

}  // namespace trainyard
