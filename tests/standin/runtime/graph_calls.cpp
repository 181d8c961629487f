// The runtime's functions for captures and graphs.
#include <algorithm>
#include <list>
#include <memory>

#include "calls.h"
#include "control.h"
#include "edge_calls.h"

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

cudaGraphEdgeData data_of(const Edge& edge) {
  cudaGraphEdgeData data{};
  if (!edge.programmatic) return data;
  data.from_port = cudaGraphKernelNodePortProgrammatic;
  data.type = cudaGraphDependencyTypeProgrammatic;
  return data;
}

/// Adds or removes edges one by one; `data` may be null: all are full.
template <class Change>
void change_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                  const cudaGraphEdgeData* data, std::size_t count, const Change& change) {
  const std::shared_ptr<Graph>& graph = found<Graph>(handle);
  require_unused(graph);
  for (std::size_t i = 0; i < count; ++i) {
    require(holds(*graph, from[i]) && holds(*graph, to[i]), cudaErrorInvalidValue);
    const std::size_t begin = node_in(*graph, from[i]), end = node_in(*graph, to[i]);
    const bool programmatic =
        data != nullptr && data[i].type == cudaGraphDependencyTypeProgrammatic;
    const bool kernels = graph->nodes[begin].task.is_kernel() && graph->nodes[end].task.is_kernel();
    require(kernels || !programmatic, cudaErrorInvalidValue);
    require(change(*graph, begin, Edge{end, programmatic}), cudaErrorInvalidValue);
  }
}

std::vector<std::string>& names_recorded_last() {
  static auto& names = *std::make_unique<std::vector<std::string>>().release();
  return names;
}

RecordedEdges edges_recorded_last;

void note(const Graph& graph) {
  names_recorded_last().clear();
  edges_recorded_last = {};
  for (const Node& node : graph.nodes) {
    if (node.removed) continue;
    const Task& task = node.task;
    names_recorded_last().emplace_back(*task.functor == 0 ? task.what : task.functor);
    for (const Edge& edge : node.next) {
      ++(edge.programmatic ? edges_recorded_last.programmatic : edges_recorded_last.full);
    }
  }
}

}  // namespace

std::vector<std::string> standin::last_recording() {
  const Machine::Lock lock = Machine::get().lock();
  return names_recorded_last();
}

RecordedEdges standin::last_recorded_edges() {
  const Machine::Lock lock = Machine::get().lock();
  return edges_recorded_last;
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

// Nodes that follow it no longer wait for it, nor for what it waited for.
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

cudaError_t STANDIN_EDGE_CALL(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t* from,
                                                 cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                                 std::size_t* count) {
  return answer("cudaGraphGetEdges", Needs::driver, [&](Machine&, auto&) {
    require(count != nullptr, cudaErrorInvalidValue);
    std::size_t there = 0;
    std::vector<Node>& nodes = found<Graph>(graph)->nodes;
    for (Node& node : nodes) {
      for (const Edge& edge : node.next) {
        if (from != nullptr && there < *count) {
          require(data != nullptr || !edge.programmatic, cudaErrorLossyQuery);
          from[there] = handle_of(node);
          to[there] = handle_of(nodes[edge.to]);
          if (data != nullptr) data[there] = data_of(edge);
        }
        ++there;
      }
    }
    *count = from == nullptr ? there : std::min(*count, there);
  });
}

cudaError_t STANDIN_EDGE_CALL(cudaGraphAddDependencies)(cudaGraph_t graph,
                                                        const cudaGraphNode_t* from,
                                                        const cudaGraphNode_t* to,
                                                        const cudaGraphEdgeData* data,
                                                        std::size_t count) {
  return answer("cudaGraphAddDependencies", Needs::driver,
                [&](Machine&, auto&) { change_edges(graph, from, to, data, count, add_edge); });
}

cudaError_t STANDIN_EDGE_CALL(cudaGraphRemoveDependencies)(cudaGraph_t graph,
                                                           const cudaGraphNode_t* from,
                                                           const cudaGraphNode_t* to,
                                                           const cudaGraphEdgeData* data,
                                                           std::size_t count) {
  return answer("cudaGraphRemoveDependencies", Needs::driver,
                [&](Machine&, auto&) { change_edges(graph, from, to, data, count, remove_edge); });
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
