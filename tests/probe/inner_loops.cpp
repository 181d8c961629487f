#include "base/error.h"
#include "convolution.h"
#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

/// Peak of an H100 SXM, dense, in bf16: teraflop/s.
constexpr double kPeak = 989;

Reading read_tile(Gpu& gpu, int channels, unsigned blocks) {
  const WholeConvolution whole(channels);
  const Memory<BFloat16> map(gpu, whole.map), weights(gpu, whole.weights);
  const Memory<float> sums(gpu, whole.sums());
  const TileMemory memory{map.data(), weights.data(), sums.data()};
  launch_tile(gpu.stream(), channels, blocks, 1, memory);
  const std::string difference = whole.difference(sums.read());
  if (!difference.empty()) throw Error(ErrorKind::device, "wrong convolution: " + difference);
  constexpr int kFew = 10, kMany = 110;  // the difference is inner loops alone
  const auto time = [&](int repeats) {
    return gpu.copies(50,
                      [&](int) { launch_tile(gpu.stream(), channels, blocks, repeats, memory); });
  };
  const double few = time(kFew).median;
  const Spread spread = share_above(time(kMany), few, kMany - kFew);
  const double flop = 2.0 * 9 * 512 * 512 * blocks;  // whatever the channels
  const double rate = flop / spread.median * 1e-6;
  return {.spread = spread, .more = {{"tflop_per_s", rate}, {"share_of_989", rate / kPeak}}};
}

}  // namespace

std::vector<Measurement> inner_loop_measurements(Gpu& gpu) {
  std::vector<Measurement> all;
  for (const int channels : {16, 32, 64}) {
    for (const unsigned blocks : {128u, 256u}) {
      all.push_back({"M6.mma." + std::to_string(channels) + "." + std::to_string(blocks),
                     "a 3x3 convolution of a map in shared memory by ldmatrix and mma.sync, of so "
                     "many channels and blocks",
                     "1.0 us (128 blocks), 0.55 to 0.65 of the peak",
                     "the rate of products in the cost model of fused convolutions",
                     [&gpu, channels, blocks] { return read_tile(gpu, channels, blocks); }});
    }
  }
  return all;
}

}  // namespace trainyard::probe
