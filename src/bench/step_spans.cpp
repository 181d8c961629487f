#include "bench/step_spans.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace trainyard {
namespace {

constexpr int kReplays = 64;

double middle_mean(std::vector<double> values) {
  std::ranges::sort(values);
  const auto cut = static_cast<std::ptrdiff_t>(values.size() / 4);
  const double sum = std::accumulate(values.begin() + cut, values.end() - cut, 0.0);
  return sum / static_cast<double>(values.size() - 2 * static_cast<std::size_t>(cut));
}

/// Of what `nanoseconds` says of a replay.
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
  std::map<bool, std::size_t> calls;        // of libraries since, by counted::Launch::beside
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
      for (; at < *counted; ++at) calls[launches[at].beside] += launches[at].library ? 1 : 0;
      span.kind = launches[at].kind;
      span.calls = std::exchange(calls[launches[at].beside], 0);
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
    throw Error(ErrorKind::command_line,
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
