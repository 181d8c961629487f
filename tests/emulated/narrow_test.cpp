// Narrow convolutions on tensor cores, emulated, against the processor's loops: with whole numbers,
// whose sums are exact in any order, bit for bit.
#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "compute/conv/narrow/narrow_conv.h"
#include "grid.h"
#include "launcher/cuda_launch.cuh"
#include "launcher/launch.h"

using namespace trainyard;

namespace {

/// Three images of 5 x 7 pixels: not a multiple of what a warp does.
constexpr std::uint32_t kHeight = 5, kWidth = 7, kPixels = 3 * kHeight * kWidth;
constexpr std::int64_t kValues = kPixels * kNarrowChannels;

template <class T>
std::vector<T> whole_numbers(std::int64_t count, std::mt19937& random) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = T(static_cast<float>(static_cast<int>(random() % 7) - 3));
  return numbers;
}

template <class T>
struct Problem {
  std::mt19937 random{3};
  std::vector<T> from = whole_numbers<T>(kValues, random);
  std::vector<T> weight = whole_numbers<T>(16 * 9 * 16, random);
  std::vector<T> to = whole_numbers<T>(kValues, random);

  template <bool kToInput, bool kAdds, class Launcher>
  [[nodiscard]] std::vector<std::uint16_t> run(const Launcher& launcher) const {
    std::vector<T> result = to;
    const NarrowMaps<T> maps{.height = kHeight,
                             .width = kWidth,
                             .pixels = kPixels,
                             .from = from.data(),
                             .weight = weight.data(),
                             .to = result.data()};
    launcher.rows((kPixels + kNarrowPixels - 1) / kNarrowPixels,
                  NarrowConv<T, kToInput, kAdds>{maps});
    std::vector<std::uint16_t> bits;
    for (const T value : result) bits.push_back(value.bits);
    return bits;
  }
};

template <class T, bool kToInput, bool kAdds>
void check() {
  const Problem<T> problem;
  const auto expected = problem.template run<kToInput, kAdds>(CpuLauncher(1));
  for (const emulated::Conduct& conduct : emulated::kConducts) {
    emulated::set_conduct(conduct);
    CHECK(problem.template run<kToInput, kAdds>(CudaLauncher(nullptr)) == expected);
  }
  emulated::set_conduct({});
}

/// The middle channel of the middle pixel by the definition of a convolution. A gradient is one of
/// turned weights.
template <class T>
float by_definition(const Problem<T>& problem) {
  float sum = 0;
  for (int tap = 0; tap < 9; ++tap) {
    const std::int64_t pixel = 17 + (tap / 3 - 1) * static_cast<int>(kWidth) + tap % 3 - 1;
    for (int c = 0; c < 16; ++c) {
      sum += static_cast<float>(problem.from[pixel * kNarrowChannels + c]) *
             static_cast<float>(problem.weight[(8 * 9 + tap) * 16 + c]);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("a narrow convolution and its input's gradient on tensor cores", T, BFloat16,
                   Float16) {
  check<T, false, false>();
  check<T, false, true>();
  check<T, true, false>();
  check<T, true, true>();
}

TEST_CASE("the processor's loops are the convolution") {
  const Problem<Float16> problem;  // whole numbers to 2048 are exact
  const auto at = static_cast<std::size_t>(17 * kNarrowChannels + 8);  // index of row 2, column 3
  const auto bits_of = [](float value) { return Float16(value).bits; };
  CHECK(problem.run<false, false>(CpuLauncher(1))[at] == bits_of(by_definition(problem)));
  CHECK(problem.run<true, false>(CpuLauncher(1))[at] == bits_of(by_definition(problem)));
}
