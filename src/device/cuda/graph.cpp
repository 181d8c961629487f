#include "device/cuda/graph.h"

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

}  // namespace

void DestroyGraph::operator()(cudaGraphExec_t graph) const { ignore(cudaGraphExecDestroy(graph)); }

CapturedGraph::CapturedGraph(Queue& queue, const std::function<void()>& work) {
  Capture capture(stream_of(queue));
  work();
  const GraphTemplate captured = capture.end();
  TY_CUDA(cudaGraphGetNodes(captured.get(), nullptr, &nodes_));
  cudaGraphExec_t graph = nullptr;
  // Else all of it would have the priority of the stream that it is launched on.
  TY_CUDA(cudaGraphInstantiate(&graph, captured.get(), cudaGraphInstantiateFlagUseNodePriority));
  graph_ = Handle<cudaGraphExec_t, DestroyGraph>(graph);
}

void CapturedGraph::replay(Queue& queue) const {
  TY_CUDA(cudaGraphLaunch(graph_.get(), stream_of(queue)));
}

}  // namespace trainyard::cuda
