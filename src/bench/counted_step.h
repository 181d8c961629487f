// What a training step enqueues on a GPU, counted without one.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "counted/launch_log.h"
#include "model/training_graph.h"
#include "plan/target.h"
#include "run/config/run_config.h"

namespace trainyard {

/// The nodes of a kind (counted::Launch::kind).
struct KindCount {
  std::string kind;
  std::size_t nodes = 0;
  std::size_t bytes = 0;                        // own bytes; 0 for calls of libraries
  std::map<std::string, std::size_t> functors;  // nodes by functor
};

/// A step, recorded: its nodes, one for each call of cuDNN or cuBLASLt, and its own bytes: those
/// that our launches, copies and fills read and write.
struct NodeCounts {
  std::size_t nodes = 0;
  std::size_t own_bytes = 0;
  std::vector<KindCount> kinds;  // most nodes first, then by name
};

/// Of one pass of a training step of `run` on one rank, with images that come from the host.
/// `graph` is that of the pass, `target` a GPU's.
[[nodiscard]] std::vector<counted::Launch> count_step(const RunConfig& run,
                                                      const TrainingGraph& graph,
                                                      const Target& target);
/// The same by StepRunner::parts().
[[nodiscard]] std::vector<std::vector<counted::Launch>> count_parts(const RunConfig& run,
                                                                    const TrainingGraph& graph,
                                                                    const Target& target);
/// Pure.
[[nodiscard]] NodeCounts node_counts(const std::vector<counted::Launch>& launches);

}  // namespace trainyard
