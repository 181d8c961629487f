#include "base/error.h"
#include "finish_sums.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

struct FinishBuffers {
  FinishBuffers(const Gpu& gpu, int channels)
      : first(gpu, kFinishBlocks * channels),
        second(gpu, kFinishBlocks * channels),
        groups(gpu, kFinishBlocks / kFinishGroup * channels),
        results(gpu, channels),
        counters(gpu, kFinishBlocks / kFinishGroup) {}
  /// Launches take turns in reading and writing.
  [[nodiscard]] FinishMemory turn(int i) const {
    return {.before = (i % 2 == 0 ? first : second).data(),
            .partials = (i % 2 == 0 ? second : first).data(),
            .groups = groups.data(),
            .results = results.data(),
            .counters = counters.data()};
  }

  Memory<PairSum> first, second, groups, results;
  Memory<std::uint32_t> counters;
};

void check_finish(Finish how, int channels, const FinishBuffers& buffers) {
  const bool grouped = how == Finish::last_of_8 || how == Finish::cluster_of_8;
  const std::vector<PairSum> found = grouped ? buffers.groups.read() : buffers.results.read();
  for (unsigned i = 0; i < found.size(); ++i) {
    const unsigned group = i / static_cast<unsigned>(channels), channel = i % channels;
    const PairSum expected = grouped ? expected_group(group, channel) : expected_result(how, i);
    if (found[i].first == expected.first && found[i].second == expected.second) continue;
    throw Error(ErrorKind::device, "wrong sums: channel " + std::to_string(channel) + " has " +
                                       std::to_string(found[i].first) + ", not " +
                                       std::to_string(expected.first));
  }
}

Reading read_finish(Gpu& gpu, Finish how, int channels) {
  if (how == Finish::cluster_of_8) gpu.require_hopper();
  const FinishBuffers buffers(gpu, channels);
  const auto time = [&](Finish pattern) {
    return gpu.copies(
        100, [&](int i) { launch_finish(gpu.stream(), pattern, channels, buffers.turn(i)); });
  };
  const double without = time(Finish::none).median;
  const Spread with = time(how);
  check_finish(how, channels, buffers);
  return {.spread = share_above(with, without, 1), .more = {{"without_us", without}}};
}

}  // namespace

std::vector<Measurement> finish_measurements(Gpu& gpu) {
  struct Pattern {
    const char* name;
    Finish how;
    const char* what;
    const char* predicted;
  };
  const Pattern patterns[] = {
      {"last_block", Finish::last_block, "the last of 128 blocks adds all", "2 to 3 us"},
      {"last_of_8", Finish::last_of_8, "the last of each 8 adds theirs", "1.2 us"},
      {"cluster_of_8", Finish::cluster_of_8, "each cluster of 8, in shared memory", "0.4 us"},
      {"read_16", Finish::read_16, "each block adds 16 of the launch before", "0.5 us"},
      {"read_128", Finish::read_128, "each block adds all 128 of the launch before", "0.8 to 2 us"},
  };
  std::vector<Measurement> all;
  for (const int channels : {16, 64}) {
    for (const Pattern& pattern : patterns) {
      all.push_back(
          {"M3." + std::string(pattern.name) + "." + std::to_string(channels),
           "more than a launch whose blocks only write: " + std::string(pattern.what),
           pattern.predicted,
           "how statistics are finished; clusters if they save 0.5 us over last_of_8",
           [&gpu, how = pattern.how, channels] { return read_finish(gpu, how, channels); }});
    }
  }
  return all;
}

}  // namespace trainyard::probe
