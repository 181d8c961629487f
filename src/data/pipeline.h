// Preprocessing and augmentation of one sample.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "data/dataset.h"
#include "data/image_functors.h"
#include "data/statistics.h"

namespace trainyard {

/// The random draws of a sample are pure functions of these.
struct SampleKey {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;  // finished epochs
  std::int64_t index = 0;   // sample index in the data set
};

/// One augmentation. `draw` numbers the random calls so that no two augmentations share one: an
/// augmentation makes at most one call, random4(seed, RandomStream::augment, epoch, draw, index).
class Augmentation {
 public:
  virtual ~Augmentation() = default;
  /// "hflip".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The output shape for an input of `shape` ([c, h, w]). Throws Error{config} for a shape that it
  /// cannot take.
  [[nodiscard]] virtual Shape output_shape(const Shape& shape) const { return shape; }
  /// Its effect on a sample of `shape`.
  [[nodiscard]] virtual SpatialStep step(const SampleKey& key, std::uint32_t draw,
                                         const Shape& shape) const = 0;
  /// Its effect in evaluation (pad_crop: a centre crop); by default a copy.
  [[nodiscard]] virtual SpatialStep eval_step(const Shape& shape) const;
};
/// out = in, of `shape`.
[[nodiscard]] SpatialStep identity_step(const Shape& shape);
/// Every augmentation, in the order of the reference. The list is in data/kinds.cpp.
[[nodiscard]] std::span<const config::Kind<Augmentation>> augmentation_kinds();

/// One preprocessing step (scale, mean_image, mean_rgb, std_rgb).
class Preprocess {
 public:
  virtual ~Preprocess() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// True if prepared() reads the statistics of the training split.
  [[nodiscard]] virtual bool needs_statistics() const { return false; }
  /// A copy that has what it needs of `statistics`, which are those of the training split as its
  /// values arrive here; turns them into those of its output: `[scale: 0.5, mean_image: train]`
  /// subtracts the mean of the scaled images. `shape` is that of the values, [c, h, w].
  /// `statistics` may be empty if no step in the list needs them. Throws Error{config} for a wrong
  /// number of values or an unsuitable shape, Error{data} for a constant channel.
  [[nodiscard]] virtual std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                                   const Shape& shape) const = 0;
  /// The effect of a prepared one on every value. It owns the step's values.
  [[nodiscard]] virtual PixelStep step() const = 0;
};
[[nodiscard]] std::span<const config::Kind<Preprocess>> preprocess_kinds();

/// Augmentation in order, then preprocessing in order: the keras2 profile's order (augment raw
/// values, then standardise).
class Pipeline {
 public:
  /// `image` is the data set's shape, [c, h, w].
  Pipeline(Shape image, std::vector<std::shared_ptr<const Augmentation>> augment,
           std::vector<std::shared_ptr<const Preprocess>> preprocess);
  /// [c, h, w] of the fill functions' output.
  [[nodiscard]] Shape output_shape() const { return output_; }
  /// True if prepare() needs the statistics of the training split.
  [[nodiscard]] bool needs_statistics() const;
  /// To be called once before the first fill: passes the statistics through the preprocessing
  /// steps.
  void prepare(Statistics statistics);
  /// Fills `out` ([c, h, w] of output_shape) with sample `key.index` of `set`. `scratch` holds two
  /// intermediate images of the largest shape, see scratch_elements(). Safe from any thread.
  void fill_train(const Dataset& set, const SampleKey& key, float* scratch, float* out) const;
  void fill_eval(const Dataset& set, std::int64_t index, float* scratch, float* out) const;
  /// The augmentations of a sample, spatial_steps() of them in order: for a device that makes the
  /// sample itself.
  void train_steps(const SampleKey& key, SpatialStep* out) const;
  void eval_steps(SpatialStep* out) const;
  [[nodiscard]] std::int64_t spatial_steps() const { return std::ssize(augment_); }
  [[nodiscard]] std::int64_t interpolating_steps() const;
  /// The preprocessing steps that follow, once prepared. The pipeline owns their values.
  [[nodiscard]] std::vector<PixelStep> pixel_steps() const;
  /// Elements of `scratch`.
  [[nodiscard]] std::int64_t scratch_elements() const { return 2 * largest_; }

 private:
  template <class StepOf>
  void fill(const Dataset& set, std::int64_t index, float* scratch, float* out,
            const StepOf& step_of) const;
  [[nodiscard]] SpatialStep train_step(std::size_t i, const SampleKey& key) const {
    return augment_[i]->step(key, static_cast<std::uint32_t>(i), shapes_[i]);
  }

  std::vector<Shape> shapes_;  // each augmentation's input
  Shape output_;
  std::int64_t largest_ = 0;  // elements
  std::vector<std::shared_ptr<const Augmentation>> augment_;
  std::vector<std::shared_ptr<const Preprocess>> preprocess_;
};

}  // namespace trainyard
