#include "base/text.h"
#include "config/fields.h"
#include "data/augment/channel_values.h"
#include "data/augment/preprocess.h"

namespace trainyard {

namespace {

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
