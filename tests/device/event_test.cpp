// Events on a simulated runtime.
#include <doctest/doctest.h>

#include "base/error.h"
#include "device/cuda/cuda_device.h"
#include "played_runtime.h"

namespace trainyard::cuda {
namespace {

TEST_CASE("querying an event that is not done leaves no error for the next check") {
  const auto event = make_cuda_device(0)->make_event();
  test::played_runtime() = {.query = cudaErrorNotReady};
  CHECK_FALSE(event->done());
  CHECK(test::played_runtime().last == cudaSuccess);
  test::played_runtime() = {.query = cudaSuccess};
  CHECK(event->done());
}

TEST_CASE("an event whose work failed reports it") {
  const auto event = make_cuda_device(0)->make_event();
  test::played_runtime() = {.query = cudaErrorIllegalAddress};
  CHECK_THROWS_AS(static_cast<void>(event->done()), Error);
}

}  // namespace
}  // namespace trainyard::cuda
