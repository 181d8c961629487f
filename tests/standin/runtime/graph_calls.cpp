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

std::vector<std::string>& names_recorded_last() {
  static auto& names = *std::make_unique<std::vector<std::string>>().release();
  return names;
}

void note(const Graph& graph) {
  names_recorded_last().clear();
  for (const Node& node : graph.nodes) {
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

// Only their number: nodes have no handles here.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return answer("cudaGraphGetNodes", Needs::driver, [&](Machine&, auto&) {
    require(count != nullptr && nodes == nullptr, cudaErrorInvalidValue);
    *count = found<Graph>(graph)->nodes.size();
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
