#include "data/augment/image_loops.h"

#include "data/images/image.h"

namespace trainyard {
namespace {

std::uint32_t byte_of(float value) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(as_byte(value)));
}

/// SpatialTransform::filtered() of all pixels in two passes, which need 2 k instead of k * k
/// products for each. `in` and `out` are the first of three planes, or of one.
template <int kPlanes>
void resize_window(const SpatialTransform& step, const float* in, float* out) {
  const std::int64_t plane = std::int64_t{step.in_h} * step.in_w;
  const std::int64_t out_plane = std::int64_t{step.out_h} * step.out_w;
  const auto give = [&](std::int64_t y, std::uint32_t* pixels) {
    const float* const row = in + (step.dy + y) * step.in_w + step.dx;
    for (std::int64_t x = 0; x < step.along.count; ++x) {
      std::uint32_t pixel = 0;
      for (int c = 0; c < kPlanes; ++c) pixel |= byte_of(row[c * plane + x]) << (8 * c);
      pixels[kRowsTogether * x] = pixel;
    }
  };
  const auto take = [&](std::int64_t y, const std::uint32_t* pixels) {
    for (int c = 0; c < kPlanes; ++c) {
      float* const row = out + c * out_plane + y * step.out_w;
      for (std::int64_t x = 0; x < step.out_w; ++x) {
        row[x] = static_cast<float>(static_cast<std::int32_t>(pixels[x] >> (8 * c) & 255U));
      }
    }
  };
  resize_pixels(give, step.down, step.along, {step.out_h, step.out_w}, take);
}

}  // namespace

void run_step(const SpatialTransform& step, std::int64_t channels, const float* in, float* out) {
  if (!step.resizes) {
    return CpuLauncher(1).rows(channels * step.out_h, SpatialRows{step, in, out});
  }
  const int together = channels % 3 == 0 ? 3 : 1;
  for (std::int64_t c = 0; c < channels; c += together) {
    const float* const from = in + c * step.in_h * step.in_w;
    float* const to = out + c * step.out_h * step.out_w;
    together == 3 ? resize_window<3>(step, from, to) : resize_window<1>(step, from, to);
  }
}

}  // namespace trainyard
