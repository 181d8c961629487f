#include "data/augment/preprocess.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/fields.h"
#include "data/augment/number_keys.h"

namespace trainyard {

namespace {

/// One value per channel from `given` (a single value applies to all channels) or from `measured`.
std::vector<float> channel_values(std::string_view name, const std::vector<float>& given,
                                  const std::vector<float>& measured, std::int64_t channels) {
  const std::vector<float>& values = given.empty() ? measured : given;
  if (given.size() == 1) return std::vector<float>(static_cast<std::size_t>(channels), given[0]);
  if (static_cast<std::int64_t>(values.size()) == channels) return values;
  TY_CHECK(!given.empty(), "statistics of another number of channels");
  throw Error(ErrorKind::config, std::string(name) + ": " + std::to_string(given.size()) +
                                     " values for images of " + std::to_string(channels) +
                                     " channels; give one value, or one per channel");
}

/// Throws Error{config} if the statistics do not follow the values that a step of this name gets.
void require_known(std::string_view name, const Statistics& statistics) {
  if (statistics.known) return;
  throw Error(ErrorKind::config, std::string(name) +
                                     ": 'train' comes after a samplewise step, of whose values the "
                                     "statistics are not known; move it up, or give the values");
}

/// Applies f(value, channel) to the mean image of `statistics`, if there is one.
template <class F>
void map_mean_image(Statistics& statistics, const F& f) {
  const std::size_t channels = std::max<std::size_t>(statistics.mean.size(), 1);
  const std::size_t plane = statistics.mean_image.size() / channels;
  for (std::size_t i = 0; i < statistics.mean_image.size(); ++i) {
    statistics.mean_image[i] = f(statistics.mean_image[i], i / plane);
  }
}

/// Variance of the mean image's values around the channel's mean: the part of the channel's
/// variance that subtracting the mean image removes (the law of total variance).
double variance_of_means(const Statistics& statistics, std::size_t channel) {
  const std::size_t plane = statistics.mean_image.size() / statistics.mean.size();
  double sum = 0;
  for (std::size_t i = channel * plane; i < (channel + 1) * plane; ++i) {
    const double off = static_cast<double>(statistics.mean_image[i]) - statistics.mean[channel];
    sum += off * off;
  }
  return sum / static_cast<double>(plane);
}

/// Reads `train` (gives an empty list), one number, or one number per channel.
std::vector<float> read_channel_values(config::Fields& fields, std::string_view help) {
  config::Node values;
  fields.rest("values", values, help);
  if (fields.describing()) return {};
  return numbers_or_word(fields, "values", values, "train");
}

enum class From { train };
constexpr config::Words<From> words(From) { return {"train"}; }

}  // namespace

std::shared_ptr<const Preprocess> Scale::prepared(Statistics& statistics, const Shape&) const {
  for (float& value : statistics.mean_image) value *= factor_;
  for (float& value : statistics.mean) value *= factor_;
  for (float& value : statistics.deviation) value *= std::abs(factor_);
  return std::make_shared<Scale>(*this);
}

std::shared_ptr<const Preprocess> SampleCenter::prepared(Statistics& statistics,
                                                         const Shape&) const {
  statistics.known = false;
  return std::make_shared<SampleCenter>(*this);
}

std::shared_ptr<const Preprocess> SampleStd::prepared(Statistics& statistics, const Shape&) const {
  statistics.known = false;
  return std::make_shared<SampleStd>(*this);
}

std::shared_ptr<const Preprocess> Zca::prepared(Statistics&, const Shape&) const {
  return std::make_shared<Zca>(*this);
}

std::shared_ptr<const Preprocess> MeanImage::prepared(Statistics& statistics,
                                                      const Shape& shape) const {
  require_known(name(), statistics);
  const std::int64_t elements = static_cast<std::int64_t>(statistics.mean_image.size());
  if (elements != shape.elements()) {
    throw Error(ErrorKind::config, "mean_image: the mean image has " + std::to_string(elements) +
                                       " values but the augmented images are " + shape.text() +
                                       "; use mean_rgb, or crop to the size of the data");
  }
  auto result = std::make_shared<MeanImage>(*this);
  result->mean_ = statistics.mean_image;
  for (std::size_t channel = 0; channel < statistics.mean.size(); ++channel) {
    const double deviation = statistics.deviation[channel];
    const double rest = deviation * deviation - variance_of_means(statistics, channel);
    statistics.deviation[channel] = static_cast<float>(std::sqrt(std::max(0.0, rest)));
  }
  map_mean_image(statistics, [](float, std::size_t) { return 0.0f; });
  std::fill(statistics.mean.begin(), statistics.mean.end(), 0.0f);
  return result;
}

std::shared_ptr<const Preprocess> MeanRgb::prepared(Statistics& statistics,
                                                    const Shape& shape) const {
  if (given_.empty()) require_known(name(), statistics);
  auto result = std::make_shared<MeanRgb>(*this);
  result->values_ = channel_values(name(), given_, statistics.mean, shape[0]);
  const std::vector<float>& mean = result->values_;
  map_mean_image(statistics,
                 [&](float value, std::size_t channel) { return value - mean[channel]; });
  for (std::size_t c = 0; c < statistics.mean.size(); ++c) statistics.mean[c] -= mean[c];
  return result;
}

std::shared_ptr<const Preprocess> StdRgb::prepared(Statistics& statistics,
                                                   const Shape& shape) const {
  if (given_.empty()) require_known(name(), statistics);
  auto result = std::make_shared<StdRgb>(*this);
  result->values_ = channel_values(name(), given_, statistics.deviation, shape[0]);
  const std::vector<float>& deviation = result->values_;
  for (std::size_t channel = 0; channel < deviation.size(); ++channel) {
    if (deviation[channel] > 0) continue;
    throw Error(ErrorKind::data, "std_rgb: channel " + std::to_string(channel) +
                                     " (from 0) of the training split is constant, so its "
                                     "standard deviation is 0; give the values instead of 'train'");
  }
  map_mean_image(statistics,
                 [&](float value, std::size_t channel) { return value / deviation[channel]; });
  for (std::size_t c = 0; c < statistics.mean.size(); ++c) {
    statistics.mean[c] /= deviation[c];
    statistics.deviation[c] /= deviation[c];
  }
  return result;
}

std::unique_ptr<Preprocess> read_scale(config::Fields& fields) {
  double factor = 1;
  fields.required("factor", factor, "multiplies every value");
  return std::make_unique<Scale>(factor);
}

std::unique_ptr<Preprocess> read_mean_image(config::Fields& fields) {
  From from = From::train;
  fields.field("from", from, "the split whose mean image is subtracted");
  return std::make_unique<MeanImage>();
}

std::unique_ptr<Preprocess> read_mean_rgb(config::Fields& fields) {
  return std::make_unique<MeanRgb>(read_channel_values(
      fields, "subtracted from each channel: 'train' (its means), one number, or one per channel"));
}

std::unique_ptr<Preprocess> read_samplewise_center(config::Fields&) {
  return std::make_unique<SampleCenter>();
}

std::unique_ptr<Preprocess> read_samplewise_std(config::Fields&) {
  return std::make_unique<SampleStd>();
}

std::unique_ptr<Preprocess> read_zca(config::Fields& fields) {
  From from = From::train;
  double epsilon = 1e-6;
  fields.field("from", from, "the split whose second moment is whitened");
  fields.field("epsilon", epsilon, "added to its eigenvalues",
               {.minimum = 0, .exclusive_minimum = true});
  return std::make_unique<Zca>(epsilon);
}

std::unique_ptr<Preprocess> read_std_rgb(config::Fields& fields) {
  std::vector<float> deviations = read_channel_values(
      fields,
      "divides each channel: 'train' (its standard deviations), one number, or one per channel");
  for (const float deviation : deviations) {
    if (deviation > 0) continue;
    fields.error("values", "expected numbers above 0, found " + number_text(deviation));
    return std::make_unique<StdRgb>(std::vector<float>{});
  }
  return std::make_unique<StdRgb>(std::move(deviations));
}

}  // namespace trainyard
