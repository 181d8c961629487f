// The edges between the nodes of captured graphs: "programmatic" ones let a kernel begin while the
// one before it runs.
#include "base/handle.h"
#include "device/cuda/check.h"
#include "launches.h"
#include "measurements.h"

namespace trainyard::probe {
namespace {

constexpr int kEdgeNodes = 20;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cuda::ignore(cudaGraphDestroy(graph)); }
};
using Graph = Handle<cudaGraph_t, DestroyGraph>;

/// A capture must not be what loads the kernels of `work`.
Graph capture(const Gpu& gpu, const std::function<void()>& work) {
  TY_CUDA(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cuda::ignore(cudaStreamEndCapture(gpu.stream(), &graph));
    cuda::ignore(cudaGetLastError());
    const Graph unfinished(graph);
    throw;
  }
  TY_CUDA(cudaStreamEndCapture(gpu.stream(), &graph));
  return Graph(graph);
}

struct Edges {
  std::vector<cudaGraphNode_t> from, to;
  std::vector<cudaGraphEdgeData> data;
};

// Before CUDA 13 the functions with the edges' data had names of their own.
#if CUDART_VERSION >= 13000
#define TY_EDGE_CALL(name) name
#else
#define TY_EDGE_CALL(name) name##_v2
#endif

Edges edges_of(const Graph& graph) {
  std::size_t count = 0;
  TY_CUDA(TY_EDGE_CALL(cudaGraphGetEdges)(graph.get(), nullptr, nullptr, nullptr, &count));
  Edges edges;
  edges.from.resize(count);
  edges.to.resize(count);
  edges.data.resize(count);
  TY_CUDA(TY_EDGE_CALL(cudaGraphGetEdges)(graph.get(), edges.from.data(), edges.to.data(),
                                          edges.data.data(), &count));
  return edges;
}

Json counts_of(const Graph& graph) {
  int programmatic = 0, full = 0;
  for (const cudaGraphEdgeData& data : edges_of(graph).data) {
    ++(data.type == cudaGraphDependencyTypeProgrammatic ? programmatic : full);
  }
  return {{"programmatic", programmatic}, {"full", full}};
}

void replay(const Gpu& gpu, const Graph& graph) {
  cudaGraphExec_t executable = nullptr;
  TY_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0));
  const cudaError_t status = cudaGraphLaunch(executable, gpu.stream());
  const cudaError_t ended = cudaStreamSynchronize(gpu.stream());
  cuda::ignore(cudaGraphExecDestroy(executable));
  cuda::check(status, "a replay");
  cuda::check(ended, "a replay");
}

void launch_waiting(const Gpu& gpu) { launch_empty(gpu.stream(), {.overlap = Overlap::early}); }

/// Kernels that wait, each behind `before`.
Reading read_edges(Gpu& gpu, const std::function<void()>& before) {
  gpu.require_hopper();
  before();
  launch_waiting(gpu);
  gpu.queue().wait();
  const Graph graph = capture(gpu, [&] {
    for (int i = 0; i < kEdgeNodes; ++i) {
      before();
      launch_waiting(gpu);
    }
  });
  replay(gpu, graph);
  return {.more = counts_of(graph)};
}

void enqueue_join(Gpu& gpu) {
  gpu.fork();
  launch_empty(gpu.beside(), {});
  launch_waiting(gpu);
  gpu.join();
}

/// Makes every edge between two kernels programmatic.
Reading read_rewritten(Gpu& gpu) {
  gpu.require_hopper();
  enqueue_join(gpu);
  gpu.queue().wait();
  const Graph graph = capture(gpu, [&] {
    for (int i = 0; i < kEdgeNodes; ++i) {
      enqueue_join(gpu);
      launch_waiting(gpu);
    }
  });
  Edges edges = edges_of(graph);
  const std::size_t count = edges.data.size();
  TY_CUDA(TY_EDGE_CALL(cudaGraphRemoveDependencies)(graph.get(), edges.from.data(), edges.to.data(),
                                                    edges.data.data(), count));
  for (cudaGraphEdgeData& data : edges.data) {
    data = {};
    data.from_port = cudaGraphKernelNodePortProgrammatic;
    data.type = cudaGraphDependencyTypeProgrammatic;
  }
  TY_CUDA(TY_EDGE_CALL(cudaGraphAddDependencies)(graph.get(), edges.from.data(), edges.to.data(),
                                                 edges.data.data(), count));
  replay(gpu, graph);
  return {.more = counts_of(graph)};
}

/// A launch with the attribute and another one, in a capture.
Reading read_legality(Gpu& gpu, EmptyLaunch launch) {
  gpu.require_hopper();
  launch.overlap = Overlap::early;
  launch_waiting(gpu);
  gpu.queue().wait();
  try {
    const Graph graph = capture(gpu, [&] {
      launch_waiting(gpu);
      launch_empty(gpu.stream(), launch);
    });
    replay(gpu, graph);
    return {.more = {{"legal", true}}};
  } catch (const std::exception& error) {
    return {.more = {{"legal", false}, {"refused", error.what()}}};
  }
}

Reading read_behind_copies(Gpu& gpu) {
  constexpr std::size_t kBytes = 3072;
  const Memory<std::uint8_t> to(gpu, kBytes), from(gpu, kBytes);
  return read_edges(gpu, [&] { gpu.queue().copy(to.data(), from.data(), kBytes); });
}

}  // namespace

std::vector<Measurement> edge_measurements(Gpu& gpu) {
  const std::string rules = "the rules of programmatic launches";
  const auto edges = [&](const char* name, const char* what, const char* predicted, auto measure) {
    return Measurement{std::string("M0.edges.") + name, what, predicted,
                       "the rules of programmatic launches; whether forks cost them", measure};
  };
  return {
      edges("chain", "a captured chain of kernels that wait", "19 programmatic, 0 full",
            [&gpu] { return read_edges(gpu, [] {}); }),
      edges("join", "the same, each also behind an event of another queue", "unknown",
            [&gpu] { return read_edges(gpu, [&] { enqueue_join(gpu); }); }),
      edges("copy", "the same, each behind a copy of 3 KB", "0 programmatic, 39 full",
            [&gpu] { return read_behind_copies(gpu); }),
      edges("driver", "the same, each behind a kernel launched as cuDNN does",
            "20 programmatic, 19 full",
            [&gpu] { return read_edges(gpu, [&] { launch_by_driver(gpu.stream()); }); }),
      edges("rewritten", "all edges of forks and joins made programmatic after the capture",
            "accepted, 0 full", [&gpu] { return read_rewritten(gpu); }),
      {"M0.legal.cooperative", "a cooperative launch with the attribute, captured", "unknown",
       rules, [&gpu] { return read_legality(gpu, {.cooperative = true}); }},
      {"M0.legal.cluster", "a launch of clusters of 8 with the attribute, captured", "legal", rules,
       [&gpu] { return read_legality(gpu, {.blocks = 128, .cluster = 8}); }},
  };
}

}  // namespace trainyard::probe
