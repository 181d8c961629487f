// When the launches of a step run on a GPU, within the recorded step.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "bench/step_runner.h"
#include "counted/launch_log.h"

namespace trainyard {

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
