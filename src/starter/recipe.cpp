#include "starter/recipe.h"

#include <algorithm>
#include <array>

namespace trainyard {
namespace {

constexpr std::int64_t kImageSteps = 1'500;
constexpr std::int64_t kLongRun = 10'000;  // steps from which the usual weight decay is enough
constexpr std::int64_t kTextSteps = 1'500;
constexpr std::int64_t kRowSteps = 2'000;
constexpr std::int64_t kTextBatch = 16;
constexpr std::int64_t kLastMap = 8;  // pixels of a side, at most

std::int64_t batch_of(std::int64_t samples) {
  if (samples >= 50'000) return 128;
  if (samples >= 10'000) return 64;
  if (samples >= 1'000) return 32;
  std::int64_t batch = 1;
  while (batch < 16 && 8 * batch <= samples) batch *= 2;
  return batch;
}

/// Epochs in which there are about `steps` steps.
std::int64_t epochs_of(std::int64_t steps, std::int64_t steps_per_epoch) {
  return (steps + steps_per_epoch - 1) / std::max<std::int64_t>(steps_per_epoch, 1);
}

}  // namespace

Recipe image_recipe(std::int64_t training_samples) {
  const std::int64_t batch = batch_of(training_samples);
  const std::int64_t per_epoch = training_samples / batch;
  const std::int64_t epochs = std::clamp<std::int64_t>(epochs_of(kImageSteps, per_epoch), 10, 200);
  const bool is_short = epochs * per_epoch < kLongRun;
  return {.batch = batch, .epochs = epochs, .weight_decay = is_short ? "5e-3" : "5e-4"};
}

Recipe rows_recipe(std::int64_t training_samples) {
  const std::int64_t batch = batch_of(training_samples);
  const std::int64_t epochs = epochs_of(kRowSteps, training_samples / batch);
  return {.batch = batch, .epochs = std::clamp<std::int64_t>(epochs, 5, 100), .weight_decay = ""};
}

Recipe text_recipe(std::int64_t characters, std::int64_t length) {
  const std::int64_t epochs = epochs_of(kTextSteps, characters / length / kTextBatch);
  return {
      .batch = kTextBatch, .epochs = std::clamp<std::int64_t>(epochs, 5, 60), .weight_decay = ""};
}

std::int64_t input_side(std::int64_t median_side) {
  constexpr std::array<std::int64_t, 5> kSizes{28, 32, 64, 128, 224};
  const auto larger = std::ranges::upper_bound(kSizes, median_side);
  return larger == kSizes.begin() ? kSizes.front() : *(larger - 1);
}

std::string image_layers(std::int64_t size) {
  const bool strided = size >= 128;
  std::string layers = strided ? "  - cbr: {f: $width, s: 2}\n" : "  - cbr: $width\n";
  std::string filters = "$width";
  std::int64_t map = strided ? size / 2 : size, factor = 1;
  while (map > kLastMap) {
    map /= 2;
    factor *= 2;
    filters = "$" + std::to_string(factor) + " * width";
    layers += "  - max_pool: 2\n  - cbr: " + filters + "\n";
  }
  return layers + "  - add: [[cbr: " + filters +
         "], []] # a residual branch: what the block gives is added to its input\n";
}

}  // namespace trainyard
