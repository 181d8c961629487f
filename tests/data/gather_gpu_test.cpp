// Batches made by a GPU are bit-identical to the host's.
#include <doctest/doctest.h>

#include "backend/cuda/launches.h"
#include "device/cuda/cuda_device.h"
#include "gather_cases.h"
#include "gpu.h"

namespace trainyard::test {
namespace {

TEST_CASE("batches that a GPU makes from bytes are bit-identical to the host's" *
          doctest::skip(no_gpu())) {
  const auto device = cuda::make_cuda_device(0);
  const auto queue = device->make_queue();
  const auto launches = cuda::make_batch_launches(cuda::stream_of(*queue));
  int made = 0;
  constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};
  CHECK(differing_batches(*device, *queue, *launches, kTypes, made) == std::vector<std::string>{});
  CHECK(made > 0);
}

}  // namespace
}  // namespace trainyard::test
