#include "base/error.h"
#include "lane_words.h"
#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

Reading compare_lanes(const Gpu& gpu) {
  constexpr unsigned kWarps = 64;
  const std::vector<std::uint32_t> words = random_lane_words(kWarps);
  std::vector<std::uint32_t> emulated(kWarps * 32 * kLaneOutputs);
  emulate_lane_maps(kWarps, words.data(), emulated.data());
  const Memory<std::uint32_t> from(gpu, words), to(gpu, emulated.size());
  launch_lane_maps(gpu.stream(), kWarps, from.data(), to.data());
  const std::string difference = lane_difference(to.read(), emulated);
  if (!difference.empty()) throw Error(ErrorKind::device, difference);
  return {.more = {{"warps", kWarps}, {"equal", true}}};
}

}  // namespace

std::vector<Measurement> lane_map_measurements(Gpu& gpu) {
  return {
      {.name = "M11.lanes",
       .what = "ldmatrix, its transposed form, mma and shuffles of random words: GPU = emulator",
       .predicted = "equal",
       .decides = "whether the emulated tests of tensor cores can be believed",
       .measure = [&gpu] { return compare_lanes(gpu); }}};
}

}  // namespace trainyard::probe
