// Preprocessing and augmentation of one sample.
//
// What an augmentation does to a sample is plain data, drawn on the host: where its pixels come
// from (SpatialTransform; consecutive warps are one map), its colours (ColourTransform), its
// preprocessing (PixelTransform), then a matrix (whitening.h). The host's loops and a device's
// kernels (data/feed/gather.h) carry it out with the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "data/augment/augmentation.h"
#include "data/augment/mixing.h"
#include "data/augment/pixel_transform.h"
#include "data/augment/sample_view.h"
#include "data/augment/spatial_transform.h"
#include "data/augment/statistics.h"
#include "data/sets/dataset.h"

namespace trainyard {

/// One preprocessing step. The list is in data/kinds.cpp.
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
  [[nodiscard]] virtual PixelTransform step() const = 0;
  /// The epsilon of ZCA whitening, which the pipeline does itself, if this is it.
  [[nodiscard]] virtual std::optional<double> whitens() const { return std::nullopt; }
};
[[nodiscard]] std::span<const config::Kind<Preprocess>> preprocess_kinds();

/// Memory of a worker for an image between two augmentations. It grows to the largest image.
class ImageScratch {
 public:
  /// Room for an image; the other one stays as it is.
  [[nodiscard]] float* next(std::int64_t elements);
  /// Room for the colour steps of a sample.
  [[nodiscard]] std::span<ColourTransform> colours(std::int64_t count);

 private:
  std::vector<float> images_[2];
  std::vector<ColourTransform> colours_;
  int last_ = 0;
};

/// Augmentation in order, then preprocessing in order: the keras2 profile's order (augment raw
/// values, then standardise). Consecutive warps are one spatial step; colours change after the last
/// of these.
class Pipeline {
 public:
  /// `image` is the data set's shape, [c, h, w], with h and w 0 if its images have sizes of their
  /// own. Throws Error{config} if an augmentation cannot take its input, if such images are given
  /// no common size, if consecutive warps sample differently, if pixels move after a change of
  /// colours, or if steps follow the whitening.
  Pipeline(Shape image, std::vector<std::shared_ptr<const Augmentation>> augment,
           std::vector<std::shared_ptr<const Preprocess>> preprocess);
  /// [c, h, w] of the samples; h and w are 0 if they differ in size.
  [[nodiscard]] Shape input_shape() const { return image_; }
  /// [c, h, w] of the fill functions' output.
  [[nodiscard]] Shape output_shape() const { return output_; }
  /// True if prepare() needs the statistics of the training split.
  [[nodiscard]] bool needs_statistics() const;
  /// To be called once before the first fill: passes the statistics through the preprocessing
  /// steps.
  void prepare(Statistics statistics);
  /// The epsilon of ZCA whitening, if the preprocessing ends in it: once prepared, the pipeline
  /// needs its whitening_matrix().
  [[nodiscard]] std::optional<double> whitens() const { return whitens_; }
  void whiten_with(std::vector<float> matrix) { whitening_ = std::move(matrix); }
  /// [d, d] for samples of d elements; empty if there is none.
  [[nodiscard]] const std::vector<float>& whitening() const { return whitening_; }
  /// Fills `out` ([c, h, w] of output_shape) with sample `key.index` (or drawn_sample()) of `set`,
  /// up to the whitening. Safe from any thread with a scratch of its own.
  void fill_train(const Dataset& set, const SampleKey& key, ImageScratch& scratch,
                  float* out) const;
  void fill_eval(const Dataset& set, std::int64_t index, ImageScratch& scratch, float* out) const;
  /// Whitens `count` filled samples in place, if the pipeline whitens: the more, the faster.
  void whiten(std::int64_t count, ImageScratch& scratch, float* samples) const;
  /// The augmentations of a sample of `shape`, spatial_transforms() of them in order: for a device
  /// that makes the sample itself.
  void train_steps(const SampleKey& key, const Shape& shape, SpatialTransform* out) const;
  void eval_steps(const Shape& shape, SpatialTransform* out) const;
  /// The changes of colours that follow, colour_transforms() of them.
  void train_colours(const SampleKey& key, ColourTransform* out) const;
  void eval_colours(ColourTransform* out) const;
  [[nodiscard]] std::int64_t colour_transforms() const { return colour_steps_; }
  /// Values of the room that they need for a sample (SampleView); 0: none.
  [[nodiscard]] std::int64_t room() const {
    return needs_room_ ? SampleView::room_of(output_[1] * output_[2]) : 0;
  }
  [[nodiscard]] std::int64_t spatial_transforms() const { return std::ssize(stages_); }
  [[nodiscard]] std::int64_t interpolating_steps() const;
  /// The preprocessing steps that follow, once prepared. The pipeline owns their values.
  [[nodiscard]] std::vector<PixelTransform> pixel_transforms() const;
  /// What is done to pairs of samples after all else, in training; by the feeder, which has them.
  void mix_with(const std::optional<MixOptions>& mixing) { mixing_ = mixing; }
  [[nodiscard]] const std::optional<MixOptions>& mixing() const { return mixing_; }
  /// True if something reads a whole sample: the colours, samplewise preprocessing, whitening,
  /// mixing.
  [[nodiscard]] bool reads_samples() const;

 private:
  /// Augmentations that are one spatial step: a single one, or consecutive warps.
  struct Stage {
    std::uint32_t first, count;  // in the list
  };
  [[nodiscard]] bool joins_stage(std::size_t i) const;
  void add(std::size_t i);
  void check_size() const;
  void take_whitening();
  [[nodiscard]] SpatialTransform train_step(const Stage& stage, const SampleKey& key,
                                            const Shape& shape) const;
  [[nodiscard]] SpatialTransform eval_step(const Stage& stage, const Shape& shape) const;
  /// The warps of a stage as one: `map_of(warp, its place, shape of its input)`.
  template <class MapOf>
  [[nodiscard]] SpatialTransform joined(const Stage& stage, const Shape& shape,
                                        const MapOf& map_of) const;
  template <class StepOf>
  void fill(const Dataset& set, std::int64_t index, ImageScratch& scratch, float* out,
            const StepOf& step_of) const;
  void finish(std::span<const ColourTransform> colours, ImageScratch& scratch, float* out) const;

  Shape image_, output_;
  std::vector<std::shared_ptr<const Augmentation>> augment_;
  std::vector<std::shared_ptr<const Preprocess>> preprocess_;
  std::vector<Stage> stages_;
  std::vector<std::uint32_t> colours_;  // places of those in the list
  std::int64_t colour_steps_ = 0;
  bool needs_room_ = false;
  std::optional<double> whitens_;
  std::vector<float> whitening_;
  std::optional<MixOptions> mixing_;
};

}  // namespace trainyard
