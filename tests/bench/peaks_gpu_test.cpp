// The peaks of a GPU. The lower bounds leave room for memory checkers, under which this runs too.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "bench/peaks.h"
#include "gpu.h"
#include "gpu_under_test.h"

using namespace trainyard;

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Gpu : test::GpuUnderTest {
  std::unique_ptr<UpdateLaunches> unused = make_cpu_update_launches(1);

  [[nodiscard]] Compute compute() const { return {*device, *queue, *executors, *unused}; }
};

}  // namespace

TEST_CASE("memory and launches of a GPU" * doctest::skip(test::no_gpu())) {
  const Gpu gpu;
  const CopyWork copy = [&](void* to, const void* from, std::size_t bytes) {
    gpu.queue->copy(to, from, bytes);
  };
  const double rate = measure_copy_rate(
      gpu.compute(), copy, copy_buffer_bytes(gpu.device->free_bytes()), steady_seconds);
  CHECK(rate > 1);
  CHECK(rate < 20000);
  const double launch = measure_launch(gpu.compute(), steady_seconds).value();
  CHECK(launch > 0.2);
  CHECK(launch < 1e5);
}

TEST_CASE("products of a GPU in 32 and in 16 bits" * doctest::skip(test::no_gpu())) {
  const Gpu gpu;
  for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16}) {
    const double rate =
        measure_product_rate(gpu.compute(), cuda_target(precision), 1024, 1, steady_seconds);
    CHECK(rate > 1);
    CHECK(rate < 1e7);
  }
}
