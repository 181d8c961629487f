// Plans on streams: what fails at once, what fails in capture, and what breaks the device.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdint>

#include "library_under_test.h"
#include "plan_run.h"
#include "runtime/control.h"

using namespace standin_tests;
using namespace trainyard;
using namespace trainyard::cudnn;
using standin::test::TestStream;

namespace {

using Computes = ConvGraph::Computes;

/// 1 by 1, of 8 channels to 8 over [4, 8, 2, 2].
ConvGraph small(Computes computes = Computes::output) {
  const GraphTensor map{DType::f32, {4, 8, 2, 2}, {32, 1, 16, 8}};
  return {.computes = computes,
          .input = map,
          .weight = {DType::f32, {8, 8, 1, 1}, {8, 1, 8, 8}},
          .output = map};
}

float first_output(const HostTensors& tensors) {
  return *reinterpret_cast<const float*>(tensors.output.data());
}

/// The last error of CUDA, which is cleared.
cudaError_t last_error() { return cudaGetLastError(); }

}  // namespace

TEST_CASE("a plan that runs computes nothing before the host waits") {
  const Bench bench(tensors_of(small()), 0);
  standin::set_idle(std::chrono::hours(1));
  CHECK(bench.execute(plan_of(small(), 0)) == CUDNN_STATUS_SUCCESS);
  const standin::test::TestEvent event;
  CHECK(event.record(bench.stream()) == cudaSuccess);
  CHECK(cudaEventQuery(event.handle) == cudaErrorNotReady);
  CHECK(last_error() == cudaErrorNotReady);
  standin::set_idle(std::chrono::milliseconds(1));
  CHECK(first_output(bench.tensors()) == 8);
}

TEST_CASE("a captured plan computes at each replay") {
  const Bench bench(tensors_of(small()), 0);
  REQUIRE(bench.stream().begin() == cudaSuccess);
  CHECK(bench.execute(plan_of(small(), 0)) == CUDNN_STATUS_SUCCESS);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(bench.stream().handle, &graph) == cudaSuccess);
  cudaGraphExec_t recorded = nullptr;
  REQUIRE(cudaGraphInstantiate(&recorded, graph, 0) == cudaSuccess);
  CHECK(first_output(bench.tensors()) == 1);
  REQUIRE(cudaGraphLaunch(recorded, bench.stream().handle) == cudaSuccess);
  CHECK(first_output(bench.tensors()) == 8);
  CHECK(cudaGraphExecDestroy(recorded) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("the engine that synchronizes with the host runs, but ends a capture") {
  const EnginePlan plan = plan_of(small(), 6);
  const Bench bench(tensors_of(small()), 0);
  CHECK(bench.execute(plan) == CUDNN_STATUS_SUCCESS);
  CHECK(first_output(bench.tensors()) == 8);
  REQUIRE(bench.stream().begin() == cudaSuccess);
  CHECK(bench.execute(plan) == CUDNN_STATUS_EXECUTION_FAILED_CUDART);
  CHECK(bench.stream().end() == cudaErrorStreamCaptureInvalidated);
  static_cast<void>(last_error());
}

TEST_CASE("the engine that does not start has a plan and fails when it is executed") {
  const Bench bench(tensors_of(small()), 0);
  CHECK(bench.execute(plan_of(small(), 7)) == CUDNN_STATUS_EXECUTION_FAILED);
  CHECK(bench.stream().wait() == cudaSuccess);
}

TEST_CASE("the engine that is compiled has no plan") {
  CHECK_THROWS_WITH_AS(plan_of(small(), 5), doctest::Contains("PREREQUISITE_MISSING"), Error);
}

TEST_CASE("the nondeterministic engine differs from run to run, the others are bit-identical") {
  HostTensors tensors = tensors_of(small(Computes::weight_gradient));
  auto* const input = reinterpret_cast<float*>(tensors.input.data());
  for (int i = 0; i < 4 * 32; ++i) input[i] = i < 32 ? 1e8f : i < 64 ? -1e8f : 0.1f;
  const auto weight = [&](std::int64_t engine) {
    return run_plan(plan_of(small(Computes::weight_gradient), engine), tensors).weight;
  };
  const auto once = weight(2);
  CHECK((weight(2) != once || weight(2) != once || weight(2) != once));
  CHECK(weight(0) == weight(0));
}

TEST_CASE("a tensor without an address is refused") {
  Bench bench(tensors_of(small()), 0);
  bench.addresses().output = nullptr;
  CHECK(bench.execute(plan_of(small(), 0)) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}

TEST_CASE("a plan that needs a workspace is refused without one") {
  const EnginePlan plan = plan_of(small(), 1);
  REQUIRE(plan.workspace_bytes > 0);
  const Bench bench(tensors_of(small()), 0);
  CHECK(bench.execute(plan) == CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
}

TEST_CASE("host memory in a plan breaks the device, which the host sees when it waits") {
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  alignas(16) static std::array<float, 128> host{};
  {
    const EnginePlan plan = plan_of(small(), 0);
    Bench bench(tensors_of(small()), 0);
    bench.addresses().input = host.data();
    CHECK(bench.execute(plan) == CUDNN_STATUS_SUCCESS);
    CHECK(bench.stream().wait() == cudaErrorIllegalAddress);
    CHECK(bench.execute(plan) == CUDNN_STATUS_EXECUTION_FAILED_CUDART);
  }
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
}

TEST_CASE("a handle refuses the stream of another device") {
  cudnnHandle_t handle = nullptr;
  REQUIRE(stand_in().call().create(&handle) == CUDNN_STATUS_SUCCESS);
  {
    REQUIRE(cudaSetDevice(2) == cudaSuccess);
    const TestStream stream;
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    CHECK(stand_in().call().set_stream(handle, stream.handle) ==
          CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH);
  }
  CHECK(stand_in().call().destroy(handle) == CUDNN_STATUS_SUCCESS);
}

TEST_CASE("requested failures are found by name") {
  cudnnHandle_t handle = nullptr;
  standin::request_failures("cudnnCreate=CUDNN_STATUS_NOT_INITIALIZED");
  CHECK(stand_in().call().create(&handle) == CUDNN_STATUS_NOT_INITIALIZED);
  standin::request_failures("cudnnGetVersion=8907");
  CHECK(stand_in().call().version() == 8907);
  standin::request_failures("cudnnBackendExecute:2=CUDNN_STATUS_INTERNAL_ERROR");
  const EnginePlan plan = plan_of(small(), 0);
  const Bench bench(tensors_of(small()), 0);
  CHECK(bench.execute(plan) == CUDNN_STATUS_SUCCESS);
  CHECK(bench.execute(plan) == CUDNN_STATUS_INTERNAL_ERROR);
  CHECK(stand_in().problem(CUDNN_STATUS_INTERNAL_ERROR).find("STANDIN_FAULTS") !=
        std::string::npos);
  standin::request_failures("");
}
