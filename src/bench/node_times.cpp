#include "bench/node_times.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/median.h"

namespace trainyard {
namespace {

constexpr int kCopies = 50;
// Replays in a row, between two waits of the host, take about this long.
constexpr double kSampleSeconds = 0.002;
constexpr int kSamples = 7;
// Fewer samples will do of a replay that takes as long, and one of kLongestSeconds.
constexpr double kLongSeconds = 0.005, kLongestSeconds = 0.05;
constexpr int kSamplesOfLong = 3;

/// All launches as one, where nothing is known of each.
counted::Launch sum_of(const std::vector<counted::Launch>& launches) {
  counted::Launch all{.library = true, .bytes = 0, .beside = launches[0].beside};
  for (const counted::Launch& launch : launches) {
    *all.bytes += launch.bytes.value_or(0);
    all.flop += launch.flop;
  }
  return all;
}

bool alike(const counted::Launch& one, const counted::Launch& other) {
  return one.kind == other.kind && one.functor == other.functor && one.bytes == other.bytes &&
         one.flop == other.flop;
}

/// Of one of the copies.
double microseconds_of(Recording& recording, Queue& queue, const std::function<double()>& now) {
  const auto seconds = [&](int replays) {
    const double begin = now();
    for (int replay = 0; replay < replays; ++replay) recording.replay();
    queue.wait();
    return (now() - begin) / replays;
  };
  static_cast<void>(seconds(1));  // loads the recording
  const double once = std::max(seconds(1), 1e-6);
  if (once > kLongestSeconds) return 1e6 * once / kCopies;
  const int replays = once < kSampleSeconds ? static_cast<int>(kSampleSeconds / once) : 1;
  const int samples = once < kLongSeconds ? kSamples : kSamplesOfLong;
  std::vector<double> times;
  for (int sample = 0; sample < samples; ++sample) times.push_back(seconds(replays));
  return 1e6 * median(times) / kCopies;
}

}  // namespace

std::vector<LaunchNodes> nodes_of_launches(const std::vector<counted::Launch>& launches,
                                           std::size_t nodes) {
  if (launches.empty()) return {};
  const auto calls =
      static_cast<std::size_t>(std::ranges::count(launches, true, &counted::Launch::library));
  const std::size_t own = launches.size() - calls;
  const std::size_t left = nodes - std::min(own, nodes);
  const bool fits = own <= nodes && (calls == 0 ? left == 0 : left > 0 && left % calls == 0);
  if (!fits) return {{sum_of(launches), {0, nodes}}};
  std::vector<LaunchNodes> found;
  std::size_t first = 0;
  for (const counted::Launch& launch : launches) {
    const NodeRange range{first, launch.library ? left / calls : 1};
    first += range.count;
    const auto same = std::ranges::find_if(
        found, [&](const LaunchNodes& other) { return alike(other.launch, launch); });
    if (same == found.end()) {
      found.push_back({launch, range});
    } else {
      ++same->count;
    }
  }
  return found;
}

std::vector<NodeTime> time_nodes(StepRunner& runner,
                                 const std::vector<std::vector<counted::Launch>>& launches,
                                 const std::function<double()>& now) {
  const std::vector<StepPart> parts = runner.parts();
  TY_CHECK(parts.size() == launches.size(), "the same step is counted and timed");
  Device& device = runner.model().compute().device;
  std::vector<NodeTime> times;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Queue& queue = *parts[i].queue;
    const std::size_t nodes = device.record(queue, parts[i].work)->nodes();
    if (nodes == 0) continue;
    for (LaunchNodes& of : nodes_of_launches(launches[i], nodes)) {
      const auto copies = device.record_copies(queue, parts[i].work, kCopies, of.nodes);
      const double time = microseconds_of(*copies, queue, now);
      times.push_back({parts[i].name, std::move(of), time});
    }
  }
  return times;
}

}  // namespace trainyard
