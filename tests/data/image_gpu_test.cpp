// The arithmetic of augmentation and preprocessing on a GPU against the CPU's loops: the same bits.
#include <doctest/doctest.h>

#include <cmath>

#include "data/image_loops.h"
#include "gpu.h"
#include "gpu_array.h"
#include "image_launches.h"

namespace trainyard::test {
namespace {

constexpr std::int64_t kChannels = 3, kHeight = 9, kWidth = 13;
constexpr std::int64_t kRows = kChannels * kHeight, kElements = kRows * kWidth;

std::vector<float> image(double phase) {
  std::vector<float> values(kElements);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(127 + 120 * std::sin(0.7 * static_cast<double>(i) + phase));
  }
  return values;
}

/// Runs the functor that `make(in, out)` answers on both devices, a team a row.
template <class Make>
void compare_rows(const Make& make) {
  Gpu gpu;
  const std::vector<float> in = image(0);
  std::vector<float> out(in.size());
  const GpuArray<float> from(gpu, in), to(gpu, out);
  run_rows(kRows, make(in.data(), out.data()));
  launch_rows(gpu.stream(), kRows, make(from.data(), to.data()));
  CHECK(to.read() == out);
}

TEST_CASE("shifts, by whole pixels and between them, and flips are the CPU's bits on a GPU" *
          doctest::skip(no_gpu())) {
  for (const Fill fill : {Fill::nearest, Fill::reflect, Fill::wrap, Fill::constant}) {
    for (const std::int64_t shift : {-5, 0, 3}) {
      compare_rows([&](const float* in, float* out) {
        return TranslateRows{in, out, kHeight, kWidth, kHeight, kWidth, shift, -shift, fill, 7.0f};
      });
      compare_rows([&](const float* in, float* out) {
        return BilinearRows{in, out, kHeight, kWidth, shift, -shift, 0.3f, 0.8f, fill, 7.0f};
      });
    }
  }
  for (const bool columns : {false, true}) {
    compare_rows([&](const float* in, float* out) {
      return FlipRows{in, out, kHeight, kWidth, columns, !columns};
    });
  }
}

TEST_CASE("preprocessing gives the CPU's bits on a GPU" * doctest::skip(no_gpu())) {
  Gpu gpu;
  std::vector<float> values = image(0);
  const std::vector<float> mean = image(1), shift{120, 121, 122}, deviation{50, 60, 70};
  const GpuArray<float> gpu_values(gpu, values), gpu_mean(gpu, mean), gpu_shift(gpu, shift);
  const GpuArray<float> gpu_deviation(gpu, deviation);
  const auto run_here = [&] {
    run_each(kElements, SubtractEach{values.data(), mean.data()});
    run_rows(kChannels,
             ChannelAffineRows{values.data(), shift.data(), deviation.data(), kHeight * kWidth});
    run_each(kElements, ScaleEach{values.data(), 1.0f / 255});
  };
  run_here();
  launch_each(gpu.stream(), kElements, SubtractEach{gpu_values.data(), gpu_mean.data()});
  launch_rows(gpu.stream(), kChannels,
              ChannelAffineRows{gpu_values.data(), gpu_shift.data(), gpu_deviation.data(),
                                kHeight * kWidth});
  launch_each(gpu.stream(), kElements, ScaleEach{gpu_values.data(), 1.0f / 255});
  CHECK(gpu_values.read() == values);
}

}  // namespace
}  // namespace trainyard::test
