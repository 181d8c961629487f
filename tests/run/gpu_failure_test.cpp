// The GPU of a failure: named in the error, and found there again.
#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "base/gpu_error.h"
#include "bench/bench.h"
#include "bench/scaling.h"
#include "logging_gpu.h"
#include "ranks/rendezvous/failure.h"
#include "run/session/session_device.h"
#include "run_text.h"

using namespace trainyard;
using namespace trainyard::test;
using trainyard::testing::error_of;

namespace {

constexpr const char* kGpuRun = R"(
name: tiny
network: {input: [3, 8, 8], layers: [dense: 4]}
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 40}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 10, split: test}
batch: {per_gpu: 4}
loss: cross_entropy
optimizer: {sgd: {lr: 0.05}}
epochs: 1
)";

const GpuFinding kBrokenGpu{.ordinal = 2, .name = "NVIDIA H200", .bus = "0000:17:00.0"};
constexpr const char* kName = "cuda:2 (NVIDIA H200, 0000:17:00.0) of node1";

}  // namespace

TEST_CASE("a GPU error names the GPU, and keeps its kind") {
  const Error found = with_gpu(GpuError("CUDA: cudaMalloc failed"), &kBrokenGpu, "node1");
  CHECK(found.exit_code() == 8);
  CHECK(found.what() == std::string("CUDA: cudaMalloc failed, on ") + kName);
  CHECK(gpu_in(found.what()) == kName);
}

TEST_CASE("any failing work on a GPU names it; other errors name none") {
  GpuEvents events;
  RankGroup alone({});
  const DeviceChoice choice = choice_of(logging_gpu(alone, events));
  CHECK(error_of(ErrorKind::device, [&] {
          naming_gpu(choice, [] { throw GpuError("CUDA: x"); });
        }) == "CUDA: x, on cuda:0 (simulated GPU, ffff:ff:1f.7) of " + host_name());
  CHECK(error_of(ErrorKind::device, [&] {
          naming_gpu(choice, [] { throw Error(ErrorKind::device, "Gloo: closed"); });
        }) == "Gloo: closed");
  CHECK(error_of(ErrorKind::device, [] {
          naming_gpu(DeviceChoice{}, [] { throw GpuError("CUDA: x"); });
        }) == "CUDA: x");
  CHECK(naming_gpu(choice, [] { return 3; }) == 3);
}

TEST_CASE("train bench, with and without --scaling, names the GPU that fails") {
  const std::string named =
      "CUDA: an illegal memory access, on cuda:0 (simulated GPU, ffff:ff:1f.7) of " + host_name();
  GpuEvents events;
  RankGroup alone({});
  const auto choice = [&](const std::string& doing) {
    return choice_of(logging_gpu(alone, events, fails_to(doing)));
  };
  CHECK(error_of(ErrorKind::device, [&] {
          static_cast<void>(bench(
              read_run(kGpuRun), {.device = choice("make executors")}, [] { return 0.0; }, 0));
        }) == named);
  CHECK(error_of(ErrorKind::device, [&] {
          static_cast<void>(
              measure_scaling(read_run(kGpuRun), {.batch = 4, .device = choice("record")}, alone));
        }) == named);
}

TEST_CASE("the GPU of a failure is found in the text that every rank gets") {
  const Error own = with_gpu(GpuError("CUDA: cudaMalloc failed"), &kBrokenGpu, "node1");
  const std::string told =
      message_of({.rank = 2, .host = "node1", .step = 7, .text = own.what(), .exit_code = 8});
  CHECK(gpu_in(told) == kName);
  CHECK(gpu_in("rank 2 died") == "");
}
