// The nodes of a step that a stand-in GPU has captured, and of one that is counted.
#pragma once

#include <string>
#include <vector>

#include "counted/launch_log.h"
#include "runtime/control.h"

namespace trainyard::test {

/// A node of the stand-in's graph by the words of the log.
inline std::string logged(const std::string& node) {
  if (node.starts_with("conv ")) return "convolution";
  return node == "matrix product" ? "product" : node;
}

/// Nodes of the graph that was captured last: functors, and what else is enqueued.
inline std::vector<std::string> nodes_captured() {
  std::vector<std::string> nodes;
  for (const std::string& node : standin::last_recording()) nodes.push_back(logged(node));
  return nodes;
}

inline std::vector<std::string> names_of(const std::vector<counted::Launch>& launches) {
  std::vector<std::string> names;
  for (const counted::Launch& launch : launches) {
    names.push_back(launch.functor.empty() ? launch.kind : launch.functor);
  }
  return names;
}

}  // namespace trainyard::test
