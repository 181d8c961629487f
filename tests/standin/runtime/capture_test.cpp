// Captures of the stand-in runtime: what may be recorded, and the errors of what may not.
#include <memory>
#include <thread>

#include "control.h"
#include "edge_calls.h"
#include "kinds.h"
#include "test_streams.h"

namespace standin::test {
namespace {

/// Checks that the capture of `stream` was invalidated, and that the stream can be used again.
void check_invalidated(const TestStream& stream) {
  CHECK(enqueue(stream.handle, "nothing", [] { return true; }) ==
        cudaErrorStreamCaptureInvalidated);
  CHECK(stream.end() == cudaErrorStreamCaptureInvalidated);
  static_cast<void>(cudaGetLastError());
  CHECK(stream.wait() == cudaSuccess);
}

cudaGraphExec_t instantiated(const TestStream& stream, std::size_t& nodes) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  return executable;
}

TEST_CASE("captured work is done by each launch, a branch as late as its join allows") {
  Log log;
  const TestStream main, branch;
  const TestEvent fork, join;
  CHECK(main.begin() == cudaSuccess);
  CHECK(log.put(main, "a") == cudaSuccess);
  CHECK(fork.record(main) == cudaSuccess);
  CHECK(fork.hold(branch) == cudaSuccess);
  CHECK(log.put(branch, "branch") == cudaSuccess);
  CHECK(join.record(branch) == cudaSuccess);
  CHECK(log.put(main, "b") == cudaSuccess);
  CHECK(join.hold(main) == cudaSuccess);
  CHECK(log.put(main, "c") == cudaSuccess);
  std::size_t nodes = 0;
  const cudaGraphExec_t graph = instantiated(main, nodes);
  CHECK(nodes == 4);
  CHECK(main.wait() == cudaSuccess);
  CHECK(log.text() == "");
  CHECK(cudaGraphLaunch(graph, main.handle) == cudaSuccess);
  CHECK(cudaGraphLaunch(graph, main.handle) == cudaSuccess);
  CHECK(main.wait() == cudaSuccess);
  CHECK(log.text() == "a b branch c a b branch c");
  CHECK(cudaGraphExecDestroy(graph) == cudaSuccess);
}

/// A capture of a copy and three kernels, of which the last two may begin early.
cudaGraph_t graph_with_overlap(const TestStream& stream) {
  const TestMemory memory(8);
  auto* const bytes = static_cast<char*>(memory.data);
  const auto launch = [&](const char* functor, bool overlaps) {
    CHECK(launch_kernel({"each", stream.handle, 1, 1, functor, overlaps}, [] { return true; }) ==
          cudaSuccess);
  };
  CHECK(stream.begin() == cudaSuccess);
  launch("first", true);
  CHECK(cudaMemcpyAsync(bytes, bytes + 4, 4, cudaMemcpyDeviceToDevice, stream.handle) ==
        cudaSuccess);
  launch("behind a copy", true);
  launch("behind a kernel", true);
  launch("without the attribute", false);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream.handle, &graph) == cudaSuccess);
  return graph;
}

TEST_CASE("a kernel with the attribute has programmatic edges, from kernels alone") {
  const TestStream stream;
  const cudaGraph_t graph = graph_with_overlap(stream);
  cudaGraphNode_t from[4], to[4];
  cudaGraphEdgeData data[4];
  std::size_t count = 4;
  CHECK(STANDIN_EDGE_CALL(cudaGraphGetEdges)(graph, from, to, nullptr, &count) ==
        cudaErrorLossyQuery);
  CHECK(STANDIN_EDGE_CALL(cudaGraphGetEdges)(graph, from, to, data, &count) == cudaSuccess);
  REQUIRE(count == 4);
  for (const std::size_t i : {0, 1, 3}) CHECK(data[i].type == cudaGraphDependencyTypeDefault);
  CHECK(data[2].type == cudaGraphDependencyTypeProgrammatic);
  CHECK(data[2].from_port == cudaGraphKernelNodePortProgrammatic);

  const auto change = [&](auto call, std::size_t i, const cudaGraphEdgeData* edge) {
    return call(graph, &from[i], &to[i], edge, 1);
  };
  const auto remove = STANDIN_EDGE_CALL(cudaGraphRemoveDependencies);
  const auto add = STANDIN_EDGE_CALL(cudaGraphAddDependencies);
  CHECK(change(remove, 2, nullptr) == cudaErrorInvalidValue);  // there is no such full edge
  CHECK(change(remove, 2, &data[2]) == cudaSuccess);
  CHECK(change(add, 2, nullptr) == cudaSuccess);
  CHECK(change(remove, 1, nullptr) == cudaSuccess);
  CHECK(change(add, 1, &data[2]) == cudaErrorInvalidValue);  // a copy triggers nothing
  static_cast<void>(cudaGetLastError());
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("a graph keeps its work until nothing of it is left, and reports every launch") {
  const TestStream stream;
  const auto token = std::make_shared<int>(0);
  int launches = 0;
  CHECK(stream.begin() == cudaSuccess);
  CHECK(enqueue(
            stream.handle, "hold", [token] { return true; }, [&] { ++launches; }) == cudaSuccess);
  std::size_t nodes = 0;
  const cudaGraphExec_t graph = instantiated(stream, nodes);
  CHECK(token.use_count() == 2);
  CHECK(launches == 0);
  for (int i = 1; i <= 2; ++i) {
    CHECK(cudaGraphLaunch(graph, stream.handle) == cudaSuccess);
    CHECK(launches == i);
  }
  CHECK(stream.wait() == cudaSuccess);
  CHECK(cudaGraphExecDestroy(graph) == cudaSuccess);
  // The device's thread releases the launch when it continues.
  CHECK(stream.wait() == cudaSuccess);
  CHECK(token.use_count() == 1);
}

TEST_CASE("waiting, freeing, allocating and pageable copies invalidate a capture") {
  const TestStream stream, other;
  const TestMemory memory(4);
  int host = 0;
  void* more = nullptr;
  const auto refused = [&](auto call) {
    CHECK(stream.begin() == cudaSuccess);
    CHECK(call() == cudaErrorStreamCaptureUnsupported);
    check_invalidated(stream);
  };
  refused([&] { return stream.wait(); });
  refused([&] { return other.wait(); });
  refused([&] { return cudaMalloc(&more, 4); });
  refused([&] { return cudaMallocHost(&more, 4); });
  refused([&] { return cudaFree(memory.data); });
  refused([&] { return cudaMemcpy(&host, memory.data, 4, cudaMemcpyDeviceToHost); });
  refused([&] {
    return cudaMemcpyAsync(&host, memory.data, 4, cudaMemcpyDeviceToHost, stream.handle);
  });
  refused([&] {
    return cudaMemcpyAsync(memory.data, &host, 4, cudaMemcpyHostToDevice, stream.handle);
  });
}

TEST_CASE("a global capture watches other threads, a thread-local one does not") {
  const TestStream stream;
  const auto allocate = [] {
    void* memory = nullptr;
    cudaError_t status = cudaSuccess;
    std::thread([&] {
      status = cudaMalloc(&memory, 4);
      if (memory != nullptr) CHECK(cudaFree(memory) == cudaSuccess);
    }).join();
    return status;
  };
  CHECK(stream.begin(cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(allocate() == cudaSuccess);
  CHECK(stream.end() == cudaSuccess);
  CHECK(stream.begin(cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(allocate() == cudaErrorStreamCaptureUnsupported);
  check_invalidated(stream);
}

TEST_CASE("another thread cannot end a capture, though it may add to it") {
  const TestStream stream;
  CHECK(stream.begin() == cudaSuccess);
  cudaError_t added = cudaErrorUnknown, ended = cudaSuccess;
  std::thread([&] {
    added = enqueue(stream.handle, "nothing", [] { return true; });
    ended = stream.end();
  }).join();
  CHECK(added == cudaSuccess);
  CHECK(ended == cudaErrorStreamCaptureWrongThread);
  CHECK(stream.end() == cudaSuccess);
}

TEST_CASE("a fork that is not joined ends a capture with an error") {
  Log log;
  const TestStream main, branch;
  const TestEvent fork;
  CHECK(main.begin() == cudaSuccess);
  CHECK(log.put(main, "a") == cudaSuccess);
  CHECK(fork.record(main) == cudaSuccess);
  CHECK(fork.hold(branch) == cudaSuccess);
  CHECK(log.put(branch, "b") == cudaSuccess);
  CHECK(main.end() == cudaErrorStreamCaptureUnjoined);
  bool capturing = true;
  CHECK(is_capturing(branch.handle, capturing) == cudaSuccess);
  CHECK_FALSE(capturing);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a capture waits for nothing outside it, and is joined to no other") {
  const TestStream one, two;
  const TestEvent event;
  CHECK(event.record(two) == cudaSuccess);
  CHECK(one.begin() == cudaSuccess);
  CHECK(event.hold(one) == cudaErrorStreamCaptureIsolation);
  check_invalidated(one);
  CHECK(one.begin() == cudaSuccess);
  CHECK(two.begin() == cudaSuccess);
  CHECK(event.record(one) == cudaSuccess);
  CHECK(event.hold(two) == cudaErrorStreamCaptureMerge);
  CHECK(two.end() == cudaErrorStreamCaptureInvalidated);
  check_invalidated(one);
  CHECK(two.wait() == cudaSuccess);
}

TEST_CASE("the host can neither query nor wait for an event of a capture") {
  const TestStream stream;
  const TestEvent event;
  for (const auto call : {cudaEventQuery, cudaEventSynchronize}) {
    CHECK(stream.begin() == cudaSuccess);
    CHECK(event.record(stream) == cudaSuccess);
    CHECK(call(event.handle) == cudaErrorCapturedEvent);
    check_invalidated(stream);
  }
}

TEST_CASE("the legacy stream conflicts with a blocking stream's capture, and cannot be captured") {
  const TestStream blocking(cudaStreamDefault), apart;
  const auto on_legacy = [] { return enqueue(nullptr, "nothing", [] { return true; }); };
  CHECK(blocking.begin() == cudaSuccess);
  CHECK(on_legacy() == cudaErrorStreamCaptureImplicit);
  check_invalidated(blocking);
  CHECK(apart.begin() == cudaSuccess);
  CHECK(on_legacy() == cudaSuccess);
  CHECK(apart.end() == cudaSuccess);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeRelaxed) ==
        cudaErrorStreamCaptureUnsupported);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("captures begin and end in turn, on the stream where they began") {
  const TestStream stream, branch;
  const TestEvent fork;
  CHECK(stream.end() == cudaErrorIllegalState);
  CHECK(stream.begin() == cudaSuccess);
  CHECK(stream.begin() == cudaErrorIllegalState);
  CHECK(fork.record(stream) == cudaSuccess);
  CHECK(fork.hold(branch) == cudaSuccess);
  CHECK(branch.end() == cudaErrorStreamCaptureUnmatched);
  check_invalidated(stream);
}

}  // namespace
}  // namespace standin::test
