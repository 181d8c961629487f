#include "device/cuda/graph.h"

#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "device/cuda/check.h"
#include "device/cuda/cuda_device.h"

namespace trainyard::cuda {
namespace {

struct DestroyTemplate {
  void operator()(cudaGraph_t graph) const { ignore(cudaGraphDestroy(graph)); }
};
using GraphTemplate = Handle<cudaGraph_t, DestroyTemplate>;

/// Ends a stream's capture in any case.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    TY_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {
    if (stream_ == nullptr) return;
    cudaGraph_t unfinished = nullptr;
    ignore(cudaStreamEndCapture(stream_, &unfinished));
    const GraphTemplate owner(unfinished);
    ignore(cudaGetLastError());
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  [[nodiscard]] GraphTemplate end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph);
    check(status, "cudaStreamEndCapture");
    return GraphTemplate(graph);
  }

 private:
  cudaStream_t stream_;
};

/// In the order of capture.
std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  TY_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  TY_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

/// cudaGraphAddDependencies(), which has one parameter more from CUDA 13 on.
template <class Call>
void add_edge(const Call& call, cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  constexpr std::size_t kOne = 1;
  if constexpr (std::is_invocable_v<Call, cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*,
                                    std::size_t>) {
    check(call(graph, &from, &to, kOne), "cudaGraphAddDependencies");
  } else {
    check(call(graph, &from, &to, nullptr, kOne), "cudaGraphAddDependencies");
  }
}

/// Keeps the nodes in `range` of each of `parts` equal parts of the graph, which is a chain.
void keep_nodes(cudaGraph_t graph, std::size_t parts, const NodeRange& range) {
  const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
  const std::size_t each = nodes.size() / parts;
  TY_CHECK(nodes.size() % parts == 0 && range.first + range.count <= each && range.count > 0,
           "equal work has equal nodes");
  if (range.count == each) return;
  cudaGraphNode_t last = nullptr;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::size_t within = i % each;
    if (within < range.first || within >= range.first + range.count) {
      TY_CUDA(cudaGraphDestroyNode(nodes[i]));
      continue;
    }
    if (within == range.first && last != nullptr) {
      add_edge(cudaGraphAddDependencies, graph, last, nodes[i]);
    }
    last = nodes[i];
  }
}

}  // namespace

void DestroyGraph::operator()(cudaGraphExec_t graph) const { ignore(cudaGraphExecDestroy(graph)); }

CapturedGraph::CapturedGraph(Queue& queue, const std::function<void()>& work) {
  Capture capture(stream_of(queue));
  work();
  instantiate(capture.end().get());
}

CapturedGraph::CapturedGraph(Queue& queue, const std::function<void()>& work, int copies,
                             const NodeRange& range) {
  Capture capture(stream_of(queue));
  for (int copy = 0; copy < copies; ++copy) work();
  const GraphTemplate captured = capture.end();
  keep_nodes(captured.get(), static_cast<std::size_t>(copies), range);
  instantiate(captured.get());
}

void CapturedGraph::instantiate(cudaGraph_t captured) {
  TY_CUDA(cudaGraphGetNodes(captured, nullptr, &nodes_));
  cudaGraphExec_t graph = nullptr;
  // Else all of it would have the priority of the stream that it is launched on.
  TY_CUDA(cudaGraphInstantiate(&graph, captured, cudaGraphInstantiateFlagUseNodePriority));
  graph_ = Handle<cudaGraphExec_t, DestroyGraph>(graph);
}

void CapturedGraph::replay(Queue& queue) const {
  TY_CUDA(cudaGraphLaunch(graph_.get(), stream_of(queue)));
}

}  // namespace trainyard::cuda
