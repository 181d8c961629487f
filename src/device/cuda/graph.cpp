#include "device/cuda/graph.h"

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

// Before CUDA 13 the functions with the edges' data had names of their own.
#if CUDART_VERSION >= 13000
#define TY_EDGE_CALL(name) name
#else
#define TY_EDGE_CALL(name) name##_v2
#endif

void add_edge(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  TY_CUDA(TY_EDGE_CALL(cudaGraphAddDependencies)(graph, &from, &to, nullptr, 1));
}

/// Lets every node begin only after those before it have ended.
void separate_nodes(cudaGraph_t graph) {
  std::size_t count = 0;
  TY_CUDA(TY_EDGE_CALL(cudaGraphGetEdges)(graph, nullptr, nullptr, nullptr, &count));
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> edges(count);
  TY_CUDA(TY_EDGE_CALL(cudaGraphGetEdges)(graph, from.data(), to.data(), edges.data(), &count));
  for (std::size_t i = 0; i < count; ++i) {
    if (edges[i].type != cudaGraphDependencyTypeProgrammatic) continue;
    TY_CUDA(TY_EDGE_CALL(cudaGraphRemoveDependencies)(graph, &from[i], &to[i], &edges[i], 1));
    add_edge(graph, from[i], to[i]);
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
    if (within == range.first && last != nullptr) add_edge(graph, last, nodes[i]);
    last = nodes[i];
  }
}

}  // namespace

void DestroyGraph::operator()(cudaGraphExec_t graph) const { ignore(cudaGraphExecDestroy(graph)); }

CapturedGraph::CapturedGraph(Queue& queue, Overlap overlap, const std::function<void()>& work) {
  Capture capture(stream_of(queue));
  work();
  instantiate(capture.end().get(), overlap);
}

CapturedGraph::CapturedGraph(Queue& queue, Overlap overlap, const std::function<void()>& work,
                             int copies, const NodeRange& range) {
  Capture capture(stream_of(queue));
  for (int copy = 0; copy < copies; ++copy) work();
  const GraphTemplate captured = capture.end();
  keep_nodes(captured.get(), static_cast<std::size_t>(copies), range);
  instantiate(captured.get(), overlap);
}

void CapturedGraph::instantiate(cudaGraph_t captured, Overlap overlap) {
  if (overlap == Overlap::none) separate_nodes(captured);
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
