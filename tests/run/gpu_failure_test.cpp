// Which GPU a failure came from: said, and found again.
#include "run/gpu_failure.h"

#include <doctest/doctest.h>

#include "base/gpu_error.h"
#include "comm/failure.h"

using namespace trainyard;

namespace {

const GpuFinding kGpu{.ordinal = 2, .name = "NVIDIA H200", .bus = "0000:17:00.0"};
constexpr const char* kName = "cuda:2 (NVIDIA H200, 0000:17:00.0) of node1";

}  // namespace

TEST_CASE("an error of a GPU names it, and keeps its kind") {
  const Error found = with_gpu(GpuError("CUDA: cudaMalloc failed"), &kGpu, "node1");
  CHECK(found.exit_code() == 8);
  CHECK(found.what() == std::string("CUDA: cudaMalloc failed, on ") + kName);
  CHECK(gpu_in(found.what()) == kName);
}

TEST_CASE("other errors of a rank on a GPU name none, and none does on the processor") {
  const Error lost(ErrorKind::device, "rank 1 (node2): Gloo: all_gather: connection closed");
  CHECK(with_gpu(lost, &kGpu, "node1").what() == std::string(lost.what()));
  CHECK(gpu_in(lost.what()) == "");
  CHECK(with_gpu(GpuError("CUDA: x"), nullptr, "node1").what() == std::string("CUDA: x"));
}

TEST_CASE("the GPU of a failure is found in what every rank is told of it") {
  const Error own = with_gpu(GpuError("CUDA: cudaMalloc failed"), &kGpu, "node1");
  const std::string told =
      message_of({.rank = 2, .host = "node1", .step = 7, .text = own.what(), .exit_code = 8});
  CHECK(gpu_in(told) == kName);
  CHECK(gpu_in("rank 2 died") == "");
}
