#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "device/cuda/check.h"
#include "device/cuda/nvml.h"

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

struct FreeMemory {
  void operator()(void* memory) const { ignore(cudaFree(memory)); }
};
struct FreePinned {
  void operator()(void* memory) const { ignore(cudaFreeHost(memory)); }
};

cudaStream_t make_stream(int ordinal, CudaQueue::Priority wanted) {
  const CurrentDevice current(ordinal);
  int least = 0, greatest = 0;
  TY_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  const int usual = std::max(greatest, least - 1);  // a smaller number is a higher priority
  const int priority = wanted == CudaQueue::Priority::high    ? greatest
                       : wanted == CudaQueue::Priority::usual ? usual
                                                              : least;
  cudaStream_t stream = nullptr;
  TY_CUDA(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
  return stream;
}

cudaEvent_t make_event_handle(int ordinal) {
  const CurrentDevice current(ordinal);
  cudaEvent_t event = nullptr;
  TY_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return event;
}

/// For `bytes` more when that much is not free.
[[noreturn]] void out_of_memory(int ordinal, std::size_t bytes) {
  std::size_t free = 0, total = 0;
  TY_CUDA(cudaMemGetInfo(&free, &total));
  throw memory_error("out of memory on cuda:" + std::to_string(ordinal) + ": " +
                     memory_text(bytes) + " requested, " + memory_text(free) + " of " +
                     memory_text(total) +
                     " free; use a smaller batch, or stop other programs there");
}

class CudaBuffer final : public DeviceBuffer {
 public:
  CudaBuffer(int ordinal, std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const CurrentDevice current(ordinal);
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      ignore(cudaGetLastError());
      out_of_memory(ordinal, bytes);
    }
    check(status, "cudaMalloc");
    memory_ = Handle<void*, FreeMemory>(memory);
  }
  [[nodiscard]] void* data() const override { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  Handle<void*, FreeMemory> memory_;
  std::size_t bytes_;
};

class PinnedBuffer final : public DeviceBuffer {
 public:
  PinnedBuffer(int ordinal, std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    const CurrentDevice current(ordinal);
    void* memory = nullptr;
    const cudaError_t status = cudaMallocHost(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      ignore(cudaGetLastError());
      throw memory_error("out of pinned host memory: " + memory_text(bytes) +
                         " requested; use a smaller batch");
    }
    check(status, "cudaMallocHost");
    memory_ = Handle<void*, FreePinned>(memory);
  }
  [[nodiscard]] void* data() const override { return memory_.get(); }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

 private:
  Handle<void*, FreePinned> memory_;
  std::size_t bytes_;
};

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(int ordinal) : event_(make_event_handle(ordinal)) {}
  void record(Queue& queue) override { TY_CUDA(cudaEventRecord(event_.get(), stream_of(queue))); }
  void wait_on(Queue& queue) override {
    TY_CUDA(cudaStreamWaitEvent(stream_of(queue), event_.get(), 0));
  }
  void wait() override { TY_CUDA(cudaEventSynchronize(event_.get())); }
  [[nodiscard]] bool done() const override {
    const cudaError_t status = cudaEventQuery(event_.get());
    if (status == cudaErrorNotReady) {
      ignore(cudaGetLastError());  // else the runtime would report NotReady to the next check
      return false;
    }
    check(status, "cudaEventQuery");
    return true;
  }

 private:
  Handle<cudaEvent_t, DestroyEvent> event_;
};

class CudaRecording final : public Recording {
 public:
  template <class... Copies>
  CudaRecording(Queue& queue, Overlap overlap, const std::function<void()>& work,
                const Copies&... copies)
      : queue_(queue), graph_(queue, overlap, work, copies...) {}
  void replay() override { graph_.replay(queue_); }
  [[nodiscard]] std::size_t nodes() const override { return graph_.nodes(); }

 private:
  Queue& queue_;
  CapturedGraph graph_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(int ordinal, Overlap overlap) : ordinal_(ordinal), overlap_(overlap) {
    const CurrentDevice current(ordinal);
    TY_CUDA(cudaFree(nullptr));  // creates the context now, so that a failure appears here
  }
  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(ordinal_); }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return std::make_unique<CudaBuffer>(ordinal_, bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return std::make_unique<PinnedBuffer>(ordinal_, bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override {
    return std::make_unique<CudaQueue>(ordinal_);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_high_priority_queue() override {
    return std::make_unique<CudaQueue>(ordinal_, CudaQueue::Priority::high);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_low_priority_queue() override {
    return std::make_unique<CudaQueue>(ordinal_, CudaQueue::Priority::low);
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override {
    return std::make_unique<CudaEvent>(ordinal_);
  }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    return std::make_unique<CudaRecording>(queue, overlap_, work);
  }
  [[nodiscard]] std::unique_ptr<Recording> record_copies(Queue& queue,
                                                         const std::function<void()>& work,
                                                         int copies,
                                                         const NodeRange& range) override {
    return std::make_unique<CudaRecording>(queue, overlap_, work, copies, range);
  }
  [[nodiscard]] std::size_t free_bytes() const override {
    const CurrentDevice current(ordinal_);
    std::size_t free = 0, total = 0;
    TY_CUDA(cudaMemGetInfo(&free, &total));
    return free;
  }
  [[nodiscard]] std::optional<std::size_t> used_bytes() const override {
    const std::optional<GpuLoad> load = nvml_.load_of(bus_);
    return load ? std::optional(load->total_bytes - load->free_bytes) : std::nullopt;
  }
  [[nodiscard]] std::optional<int> busy_percent() const override {
    const std::optional<GpuLoad> load = nvml_.load_of(bus_);
    return load ? load->busy_percent : std::nullopt;
  }

 private:
  int ordinal_;
  Overlap overlap_;
  std::string bus_ = bus_of(ordinal_);
  Nvml nvml_;
};

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

void DestroyStream::operator()(cudaStream_t stream) const { ignore(cudaStreamDestroy(stream)); }
void DestroyEvent::operator()(cudaEvent_t event) const { ignore(cudaEventDestroy(event)); }

CudaQueue::CudaQueue(int ordinal, Priority priority)
    : ordinal_(ordinal), stream_(make_stream(ordinal, priority)) {}

void CudaQueue::copy(void* to, const void* from, std::size_t bytes) {
  TY_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream()));
}

void CudaQueue::copy_from_host(void* to, const void* from, std::size_t bytes) {
  TY_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream()));
}

void CudaQueue::copy_to_host(void* to, const void* from, std::size_t bytes) {
  TY_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()));
}

void CudaQueue::fill(void* to, std::byte value, std::size_t bytes) {
  TY_CUDA(cudaMemsetAsync(to, std::to_integer<int>(value), bytes, stream()));
}

void CudaQueue::wait() { TY_CUDA(cudaStreamSynchronize(stream())); }

std::unique_ptr<Device> make_cuda_device(int ordinal, Overlap overlap) {
  return std::make_unique<CudaDevice>(ordinal, overlap);
}

cudaStream_t stream_of(const Queue& queue) {
  const auto* own = dynamic_cast<const CudaQueue*>(&queue);
  TY_CHECK(own != nullptr, "a queue of a CUDA device");
  return own->stream();
}

}  // namespace trainyard::cuda
