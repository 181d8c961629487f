#include "bench/node_times.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

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
  counted::Launch all{.library = true, .bytes = 0, .on_side_queue = launches[0].on_side_queue};
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

/// Time of one of the copies.
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

namespace {

constexpr int kReplays = 64;

double middle_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto cut = static_cast<std::ptrdiff_t>(values.size() / 4);
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(values.size() - 2 * static_cast<std::size_t>(cut));
}

/// Middle mean over replays of what `nanoseconds` gives for one.
template <class F>
double microseconds(const std::vector<std::vector<LaunchSpan>>& replays, const F& nanoseconds) {
  std::vector<double> values;
  for (const std::vector<LaunchSpan>& spans : replays) {
    values.push_back(1e-3 * static_cast<double>(nanoseconds(spans)));
  }
  return middle_mean(std::move(values));
}

/// From `from` on; none: the step has a launch that is not counted.
std::optional<std::size_t> find_functor(const std::vector<counted::Launch>& launches,
                                        std::size_t from, const std::string& functor) {
  while (from < launches.size() && launches[from].functor != functor) ++from;
  return from < launches.size() ? std::optional(from) : std::nullopt;
}

}  // namespace

std::vector<StepSpan> step_spans(const std::vector<std::vector<LaunchSpan>>& replays,
                                 const std::vector<counted::Launch>& launches) {
  const std::vector<LaunchSpan>& first = replays.at(0);
  std::map<std::size_t, std::size_t> last;  // launch of ours, by queue
  std::map<bool, std::size_t> calls;  // calls of libraries since, by counted::Launch::on_side_queue
  std::vector<StepSpan> found;
  std::size_t at = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const LaunchSpan& own = first[i];
    StepSpan span{.functor = own.functor, .queue = own.queue};
    const auto since = [&](std::uint64_t LaunchSpan::*time) {
      return microseconds(replays, [&](const std::vector<LaunchSpan>& spans) {
        return static_cast<std::int64_t>(spans[i].*time - spans[0].begin);
      });
    };
    span.begin = since(&LaunchSpan::begin);
    span.end = since(&LaunchSpan::end);
    if (const auto counted = find_functor(launches, at, own.functor)) {
      for (; at < *counted; ++at) calls[launches[at].on_side_queue] += launches[at].library ? 1 : 0;
      span.kind = launches[at].kind;
      span.calls = std::exchange(calls[launches[at].on_side_queue], 0);
      ++at;
    }
    if (const auto before = last.find(own.queue); before != last.end()) {
      span.gap = microseconds(replays, [&](const std::vector<LaunchSpan>& spans) {
        return static_cast<std::int64_t>(spans[i].begin - spans[before->second].end);
      });
    }
    last[own.queue] = i;
    found.push_back(std::move(span));
  }
  return found;
}

std::vector<StepSpan> measure_spans(StepRunner& runner, TimedRecording* recording,
                                    const std::vector<counted::Launch>& launches) {
  if (recording == nullptr) {
    refuse_command(
        "--node-times needs a GPU part whose kernels note when they run, and this one was "
        "built without; configure a build with -DTRAINYARD_NODE_TIMES=ON");
  }
  std::vector<std::vector<LaunchSpan>> replays;
  for (int replay = 0; replay < kReplays; ++replay) {
    runner.step_by([&] { replays.push_back(recording->replay()); });
  }
  replays.erase(replays.begin());  // loads the recording
  return step_spans(replays, launches);
}

}  // namespace trainyard
