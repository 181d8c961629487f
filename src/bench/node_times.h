// How long each node of a step takes on a GPU, by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "bench/step_runner.h"
#include "counted/launch_log.h"
#include "device/device.h"

namespace trainyard {

/// The nodes of a launch within a part of a step.
struct LaunchNodes {
  counted::Launch launch;
  NodeRange nodes;
  std::size_t count = 1;  // launches of the part that are alike: this one is the first
};

/// Which of a part's `nodes` nodes are whose. A launch of ours, a copy and a fill is one node; the
/// others are the calls' of libraries, as many each. Where that does not come out, all launches are
/// one, of no kind. Pure.
[[nodiscard]] std::vector<LaunchNodes> nodes_of_launches(
    const std::vector<counted::Launch>& launches, std::size_t nodes);

struct NodeTime {
  std::string step;  // StepPart::name
  LaunchNodes of;
  double microseconds = 0;
};

/// Times every launch of a step, `launches` by parts (count_parts), on the runner's device: the
/// median over replays of a recording of 50 copies in a row. So caches are warm, and what a node
/// waits for is the one before it. The runner has taken a step, and takes none afterwards. `now` is
/// a clock in seconds.
[[nodiscard]] std::vector<NodeTime> time_nodes(
    StepRunner& runner, const std::vector<std::vector<counted::Launch>>& launches,
    const std::function<double()>& now);

// When the launches of a step run on a GPU, within the recorded step.

/// A launch of ours, in microseconds from the first one's begin.
struct StepSpan {
  std::string kind;  // counted::Launch::kind; "" of a launch that is not counted
  std::string functor;
  std::size_t queue = 0;  // LaunchSpan::queue
  double begin = 0, end = 0;
  /// From the end of the launch of ours before it on its queue; empty for the first one. In it are
  /// copies, and `calls` calls of libraries, which note nothing.
  std::optional<double> gap;
  std::size_t calls = 0;
};

/// The mean over the middle half of the replays: the timer may advance in steps of 1 us. `launches`
/// are those of the step, in order. Pure; each replay has the same launches, at least one.
[[nodiscard]] std::vector<StepSpan> step_spans(const std::vector<std::vector<LaunchSpan>>& replays,
                                               const std::vector<counted::Launch>& launches);

/// Replays the runner's step: `recording` is of StepRunner::enqueue(), null if the GPU part does
/// not time launches, which throws Error{command_line}.
[[nodiscard]] std::vector<StepSpan> measure_spans(StepRunner& runner, TimedRecording* recording,
                                                  const std::vector<counted::Launch>& launches);

}  // namespace trainyard
