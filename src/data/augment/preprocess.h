// The preprocessing steps.
#pragma once

#include "data/augment/pipeline.h"

namespace trainyard {

/// Multiplies by a factor.
class Scale final : public Preprocess {
 public:
  explicit Scale(double factor) : factor_(static_cast<float>(factor)) {}
  [[nodiscard]] std::string_view name() const override { return "scale"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::scale, .factor = factor_};
  }

 private:
  float factor_;
};

/// Subtracts the mean image of the training split.
class MeanImage final : public Preprocess {
 public:
  [[nodiscard]] std::string_view name() const override { return "mean_image"; }
  [[nodiscard]] bool needs_statistics() const override { return true; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::subtract_image,
            .values = mean_.data(),
            .count = std::ssize(mean_)};
  }

 private:
  std::vector<float> mean_;  // [c, h, w]
};

/// A step with one value per channel: the given ones, or those of the training split if the list is
/// empty.
class ChannelValues : public Preprocess {
 public:
  ChannelValues(std::vector<float> given, PixelTransform::Kind kind)
      : given_(std::move(given)), kind_(kind) {}
  [[nodiscard]] bool needs_statistics() const override { return given_.empty(); }
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = kind_, .values = values_.data(), .count = std::ssize(values_)};
  }

 protected:
  std::vector<float> given_;
  std::vector<float> values_;  // [c]

 private:
  PixelTransform::Kind kind_;
};

/// Subtracts a value per channel, of the training split the mean.
class MeanRgb final : public ChannelValues {
 public:
  explicit MeanRgb(std::vector<float> given)
      : ChannelValues(std::move(given), PixelTransform::Kind::subtract_channel) {}
  [[nodiscard]] std::string_view name() const override { return "mean_rgb"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
};

/// Divides by a value per channel, of the training split the standard deviation.
class StdRgb final : public ChannelValues {
 public:
  explicit StdRgb(std::vector<float> given)
      : ChannelValues(std::move(given), PixelTransform::Kind::divide_channel) {}
  [[nodiscard]] std::string_view name() const override { return "std_rgb"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
};

/// Subtracts the mean of all of a sample's values.
class SampleCenter final : public Preprocess {
 public:
  [[nodiscard]] std::string_view name() const override { return "samplewise_center"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::subtract_mean};
  }
};

/// Divides by the standard deviation of all of a sample's values, of the population, + 1e-7.
class SampleStd final : public Preprocess {
 public:
  [[nodiscard]] std::string_view name() const override { return "samplewise_std"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::divide_deviation};
  }
};

/// ZCA whitening (data/augment/whitening.h) by the training split; the last step of a list.
class Zca final : public Preprocess {
 public:
  explicit Zca(double epsilon) : epsilon_(epsilon) {}
  [[nodiscard]] std::string_view name() const override { return "zca"; }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  /// Nothing: the pipeline whitens.
  [[nodiscard]] PixelTransform step() const override { return {}; }
  [[nodiscard]] std::optional<double> whitens() const override { return epsilon_; }

 private:
  double epsilon_;
};

[[nodiscard]] std::unique_ptr<Preprocess> read_scale(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_mean_image(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_mean_rgb(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_std_rgb(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_samplewise_center(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_samplewise_std(config::Fields& fields);
[[nodiscard]] std::unique_ptr<Preprocess> read_zca(config::Fields& fields);

}  // namespace trainyard
