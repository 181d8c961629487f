#include "inference/views.h"

#include <array>

#include "base/error.h"
#include "data/augment/spatial_transform.h"

namespace trainyard {
namespace {

constexpr std::array kImage = {View{}};
constexpr std::array kFlip = {View{.weight = 0.5}, View{.mirrored = true, .weight = 0.5}};
constexpr std::array kShifts = {
    View{.weight = 0.25},
    View{.mirrored = true, .weight = 0.25},
    View{.shift = -1, .weight = 0.125},
    View{.mirrored = true, .shift = -1, .weight = 0.125},
    View{.shift = 1, .weight = 0.125},
    View{.mirrored = true, .shift = 1, .weight = 0.125},
};

}  // namespace

std::span<const View> views_of(ViewSet set) {
  constexpr std::array<std::span<const View>, 3> kSets = {kImage, kFlip, kShifts};
  return kSets[static_cast<std::size_t>(set)];
}

void require_images(ViewSet set, const Shape& image) {
  if (set == ViewSet::none || (image[1] > 1 && image[2] > 1)) return;
  refuse_command("--tta " + std::string(config::word_of(set)) +
                 " mirrors and shifts images, but samples of this run are " + image.text() +
                 "; leave it out");
}

Batch ViewMaker::view(const Batch& batch, const View& view) {
  Batch seen = batch;
  if (!view.mirrored && view.shift == 0) return seen;
  const std::int64_t height = image_[1], width = image_[2];
  seen_.resize(batch.images.size());
  const auto rows = static_cast<std::int64_t>(seen_.size()) / width;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t plane = row / height * height;
    const float* const from =
        batch.images.data() +
        (plane + extended_index(row - plane + view.shift, height, Fill::mirror)) * width;
    float* const to = seen_.data() + row * width;
    for (std::int64_t x = 0; x < width; ++x) {
      to[x] = from[extended_index((view.mirrored ? width - 1 - x : x) + view.shift, width,
                                  Fill::mirror)];
    }
  }
  seen.images = seen_;
  return seen;
}

std::optional<std::vector<float>> ViewMean::add(std::span<const float> outputs) {
  if (next_ == 0) sum_.assign(outputs.size(), -0.0);  // -0.0 + x is x, whatever its sign
  for (std::size_t i = 0; i < outputs.size(); ++i) sum_[i] += views_[next_].weight * outputs[i];
  next_ = (next_ + 1) % views_.size();
  if (next_ > 0) return std::nullopt;
  std::vector<float> mean;
  for (const double sum : sum_) mean.push_back(static_cast<float>(sum));
  return mean;
}

}  // namespace trainyard
