// How long each node of a step takes on a GPU, by itself.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

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

}  // namespace trainyard
