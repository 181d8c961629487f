// Times random_resized_crop of images of 375 x 500 to 224 x 224 on one thread: images per second of
// processor time, the best of five times 200. Built on demand only; the peer is
// scripts/peer_crops.py.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "data/augment/crops.h"
#include "data/augment/image_loops.h"

using namespace trainyard;

namespace {

constexpr int kImages = 200, kRounds = 5;

std::vector<float> image_of(const Shape& shape) {
  std::vector<float> image(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>((i * 2654435761U >> 7U) % 256);
  }
  return image;
}

double best_rate(const RandomResizedCrop& crop, const Shape& shape) {
  const std::vector<float> image = image_of(shape);
  std::vector<float> out(static_cast<std::size_t>(crop.output_shape(shape).elements()));
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < kImages; ++i) {
      run_step(crop.step({.seed = 1, .index = i}, 0, shape), shape[0], image.data(), out.data());
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::max(best, kImages / seconds);
  }
  return best;
}

}  // namespace

int main() {
  for (const auto& filter : words(CropFilter{})) {
    const RandomResizedCrop crop({.size = {224, 224}, .filter = filter.value},
                                 {.interpolation = Interpolation::bilinear});
    std::printf("filter %s: %.0f images/s\n", std::string(filter.word).c_str(),
                best_rate(crop, {3, 375, 500}));
  }
}
