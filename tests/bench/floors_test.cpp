#include <doctest/doctest.h>

#include "base/error.h"
#include "bench/peaks.h"

using namespace trainyard;

TEST_CASE("each bound is counts / peaks, and the largest is the roofline of the step") {
  const StepCounts counts{.gflop = 12, .gigabytes = 0.5, .launches = 100};
  const Floors bound_by_memory =
      floors_of(counts, {.gflops = 4000, .gigabytes_per_second = 50, .launch_microseconds = 2.5});
  CHECK(bound_by_memory.arithmetic_milliseconds == doctest::Approx(3));
  CHECK(bound_by_memory.memory_milliseconds == doctest::Approx(10));
  CHECK(bound_by_memory.latency_milliseconds.value() == doctest::Approx(0.25));
  CHECK(bound_by_memory.milliseconds() == doctest::Approx(10));
  CHECK(floors_of(counts, {.gflops = 400, .gigabytes_per_second = 50}).milliseconds() ==
        doctest::Approx(30));
  CHECK(floors_of(counts, {.gflops = 4000, .gigabytes_per_second = 50, .launch_microseconds = 400})
            .milliseconds() == doctest::Approx(40));
}

TEST_CASE("there is no latency bound if work runs synchronously") {
  const Floors floors =
      floors_of({.gflop = 1, .gigabytes = 1}, {.gflops = 1000, .gigabytes_per_second = 100});
  CHECK_FALSE(floors.latency_milliseconds.has_value());
  CHECK(floors.milliseconds() == doctest::Approx(10));
}

TEST_CASE("a peak that was not measured is a bug") {
  CHECK_THROWS_AS(static_cast<void>(floors_of({}, {.gflops = 1})), Error);
  CHECK_THROWS_AS(static_cast<void>(floors_of({}, {.gigabytes_per_second = 1})), Error);
}
