#include "compute/conv/cudnn/replay_time.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace trainyard::cudnn {
namespace {

// The work in a replay takes about this long, within these bounds.
constexpr double kMilliseconds = 1.0;
constexpr double kMostRuns = 20;
constexpr int kReplays = 3;
// Work whose first replay takes this many times the best time is not replayed again, if it takes so
// long that the launch of a graph, which a first replay includes, does not count.
constexpr double kHopeless = 3.0;
constexpr double kJudgedMilliseconds = 0.02;

/// A replay that loads the graph, then one that is timed.
double second_replay(const QueueTimer& time, Recording& recording) {
  recording.replay();
  return time([&] { recording.replay(); });
}

}  // namespace

double replay_milliseconds(Device& device, Queue& queue, const QueueTimer& time,
                           const std::function<void()>& run, double best) {
  run();  // loads modules, which a recording may not
  queue.wait();
  const double first = second_replay(time, *device.record(queue, run));
  if (first > std::max(kHopeless * best, kJudgedMilliseconds))
    return std::numeric_limits<double>::infinity();
  const int runs = first * kMostRuns <= kMilliseconds
                       ? static_cast<int>(kMostRuns)
                       : std::max(1, static_cast<int>(kMilliseconds / first));
  const std::unique_ptr<Recording> many = device.record(queue, [&run, runs] {
    for (int i = 0; i < runs; ++i) run();
  });
  double least = second_replay(time, *many);
  for (int i = 1; i < kReplays; ++i) least = std::min(least, time([&] { many->replay(); }));
  return least / runs;
}

void replay_once(Device& device, Queue& queue, const std::function<void()>& run) {
  run();  // loads modules, which a recording may not
  queue.wait();
  const std::unique_ptr<Recording> once = device.record(queue, run);
  once->replay();
  queue.wait();
}

}  // namespace trainyard::cudnn
