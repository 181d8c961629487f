// The runtime's functions for captures and graphs.
#include <algorithm>
#include <list>
#include <memory>

#include "calls.h"
#include "control.h"

using namespace standin;

namespace {

/// The graphs of the process, guarded by the machine's lock. Handles are their addresses.
template <class T>
std::list<std::shared_ptr<T>>& all() {
  static auto& list = *std::make_unique<std::list<std::shared_ptr<T>>>().release();
  return list;
}

template <class T, class Handle>
const std::shared_ptr<T>& found(Handle handle) {
  for (const std::shared_ptr<T>& one : all<T>()) {
    if (static_cast<void*>(one.get()) == handle) return one;
  }
  throw Refused(cudaErrorInvalidValue);
}

template <class T, class Handle>
void keep(std::shared_ptr<T> one, Handle* handle) {
  *handle = static_cast<Handle>(static_cast<void*>(one.get()));
  all<T>().push_back(std::move(one));
}

template <class T, class Handle>
void forget(Handle handle) {
  const std::shared_ptr<T> one = found<T>(handle);
  all<T>().remove(one);
}

// A node's handle is its address, which is final once the capture has ended.
cudaGraphNode_t handle_of(Node& node) {
  return static_cast<cudaGraphNode_t>(static_cast<void*>(&node));
}
/// The number of nodes if the graph does not hold it.
std::size_t node_in(Graph& graph, cudaGraphNode_t handle) {
  std::size_t node = 0;
  while (node < graph.nodes.size() && handle_of(graph.nodes[node]) != handle) ++node;
  return node;
}
bool holds(Graph& graph, cudaGraphNode_t handle) {
  const std::size_t node = node_in(graph, handle);
  return node < graph.nodes.size() && !graph.nodes[node].removed;
}
/// What is instantiated from a graph here shares its nodes: it may not change any more.
void require_unused(const std::shared_ptr<Graph>& graph) {
  require(graph.use_count() == 1, cudaErrorNotSupported);
}

std::vector<std::string>& names_recorded_last() {
  static auto& names = *std::make_unique<std::vector<std::string>>().release();
  return names;
}

void note(const Graph& graph) {
  names_recorded_last().clear();
  for (const Node& node : graph.nodes) {
    if (node.removed) continue;
    names_recorded_last().emplace_back(*node.functor == 0 ? node.what : node.functor);
  }
}

}  // namespace

std::vector<std::string> standin::last_recording() {
  const Machine::Lock lock = Machine::get().lock();
  return names_recorded_last();
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return answer("cudaStreamBeginCapture", Needs::context, [&](Machine& machine, auto&) {
    require(mode >= cudaStreamCaptureModeGlobal && mode <= cudaStreamCaptureModeRelaxed,
            cudaErrorInvalidValue);
    begin_capture(machine, stream_of(machine, handle), mode);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return answer("cudaStreamEndCapture", Needs::context, [&](Machine& machine, auto&) {
    require(graph != nullptr, cudaErrorInvalidValue);
    *graph = nullptr;
    keep(end_capture(machine, stream_of(machine, handle)), graph);
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return answer("cudaGraphGetNodes", Needs::driver, [&](Machine&, auto&) {
    require(count != nullptr, cudaErrorInvalidValue);
    std::size_t there = 0;
    for (Node& node : found<Graph>(graph)->nodes) {
      if (node.removed) continue;
      if (nodes != nullptr && there < *count) nodes[there] = handle_of(node);
      ++there;
    }
    *count = nodes == nullptr ? there : std::min(*count, there);
  });
}

// Those that follow it no longer wait for it, nor for what it waited for.
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return answer("cudaGraphDestroyNode", Needs::driver, [&](Machine&, auto&) {
    for (const std::shared_ptr<Graph>& graph : all<Graph>()) {
      if (!holds(*graph, handle)) continue;
      require_unused(graph);
      return remove_node(*graph, node_in(*graph, handle));
    }
    throw Refused(cudaErrorInvalidValue);
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     std::size_t count) {
#else
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, std::size_t count) {
  const void* const data = nullptr;
#endif
  return answer("cudaGraphAddDependencies", Needs::driver, [&](Machine&, auto&) {
    require(data == nullptr, cudaErrorInvalidValue);
    const std::shared_ptr<Graph>& own = found<Graph>(graph);
    require_unused(own);
    for (std::size_t i = 0; i < count; ++i) {
      require(holds(*own, from[i]) && holds(*own, to[i]), cudaErrorInvalidValue);
      const bool added = add_edge(*own, node_in(*own, from[i]), node_in(*own, to[i]));
      require(added, cudaErrorInvalidValue);
    }
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph,
                                 unsigned long long flags) {
  return answer("cudaGraphInstantiate", Needs::context, [&](Machine& machine, auto&) {
    constexpr unsigned long long kKnown = cudaGraphInstantiateFlagUseNodePriority;
    require(handle != nullptr && (flags & ~kKnown) == 0, cudaErrorInvalidValue);
    Device& device = machine.devices()[static_cast<std::size_t>(current_device())];
    note(*found<Graph>(graph));
    keep(std::make_shared<Executable>(device, found<Graph>(graph)), handle);
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  return answer("cudaGraphLaunch", Needs::context, [&](Machine& machine, auto&) {
    launch_graph(machine, stream_of(machine, stream), found<Executable>(handle));
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return answer("cudaGraphDestroy", Needs::driver, [&](Machine&, auto&) { forget<Graph>(graph); });
}

// A launch in progress continues.
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return answer("cudaGraphExecDestroy", Needs::driver,
                [&](Machine&, auto&) { forget<Executable>(graph); });
}

}  // extern "C"
