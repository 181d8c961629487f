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

/// Subtracts a value per channel: the given ones, or the training split's means if the list is
/// empty.
class MeanRgb final : public Preprocess {
 public:
  explicit MeanRgb(std::vector<float> given) : given_(std::move(given)) {}
  [[nodiscard]] std::string_view name() const override { return "mean_rgb"; }
  [[nodiscard]] bool needs_statistics() const override { return given_.empty(); }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::subtract_channel,
            .values = mean_.data(),
            .count = std::ssize(mean_)};
  }

 private:
  std::vector<float> given_;
  std::vector<float> mean_;  // [c]
};

/// Divides by a value per channel: the given ones, or the training split's standard deviations.
class StdRgb final : public Preprocess {
 public:
  explicit StdRgb(std::vector<float> given) : given_(std::move(given)) {}
  [[nodiscard]] std::string_view name() const override { return "std_rgb"; }
  [[nodiscard]] bool needs_statistics() const override { return given_.empty(); }
  [[nodiscard]] std::shared_ptr<const Preprocess> prepared(Statistics& statistics,
                                                           const Shape& shape) const override;
  [[nodiscard]] PixelTransform step() const override {
    return {.kind = PixelTransform::Kind::divide_channel,
            .values = deviation_.data(),
            .count = std::ssize(deviation_)};
  }

 private:
  std::vector<float> given_;
  std::vector<float> deviation_;  // [c]
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
