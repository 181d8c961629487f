#include <doctest/doctest.h>

#include "fake_network.h"
#include "plan/model_memory.h"

using namespace trainyard;
using namespace trainyard::testing;

TEST_CASE("the forecast counts each kind of memory from the plan and its sizes") {
  FakeNetwork network({2, 64});  // 128 values are 512 bytes
  const ValueId first = network(conv_like(), {0});
  const ValueId second = network(conv_like(), {first});
  Plan plan = plan_for(network.graph, reference_target(Precision::fp32),
                       {.train = false, .kept = {second}});
  const std::vector<StepNeeds> needs{{.workspace = 700}, {.workspace = 100}};
  complete(plan, needs);
  // Two parameters of 100 elements are 2 chunks of 64 each: 256 elements, 1024 bytes.
  const BlockLayout blocks = lay_out_blocks(plan.laid_out.graph);
  const Plan* const programs[] = {&plan};
  const MemoryForecast memory = forecast(
      blocks, {.slots = 3, .input_bytes = plan.input_bytes, .batch = 2, .accumulates = true},
      programs);
  CHECK(memory.weights == 1024);
  CHECK(memory.gradients == 2 * 1024);
  CHECK(memory.optimizer == 3 * 1024);
  // The batch, the state, the sample indices, the counters of finished blocks: of four siblings on
  // the main queue, and of the side queue.
  CHECK(memory.inputs == 512 + 256 + 256 + 5 * 4096);
  CHECK(memory.activations == 2 * 512);
  // The larger workspace is alive together with only the first output; the second one comes later.
  CHECK(memory.workspace == 512 + 768 - 1024);
  CHECK(memory.total() == 1024 + 2048 + 3072 + 21504 + 1024 + 256);
}

TEST_CASE("two programs share one transient arena: the larger one counts") {
  FakeNetwork network({2, 64});
  const ValueId first = network(conv_like(), {0});
  const ValueId second = network(conv_like(), {first});
  const auto plan_of = [&](ValueId kept, std::size_t workspace) {
    Plan plan = plan_for(network.graph, reference_target(Precision::fp32),
                         {.train = false, .kept = {kept}});
    const std::vector<StepNeeds> needs(plan.steps.size(), {.workspace = workspace});
    complete(plan, needs);
    return plan;
  };
  const Plan small = plan_of(second, 0), large = plan_of(second, 4096);
  const Plan* const programs[] = {&small, &large};
  const MemoryForecast memory = forecast(lay_out_blocks(small.laid_out.graph), {}, programs);
  CHECK(memory.activations == small.transient_bytes);
  CHECK(memory.activations + memory.workspace == large.transient_bytes);
}

TEST_CASE("the text of a forecast names every kind") {
  const MemoryForecast memory{.weights = 1 << 20,
                              .gradients = 2 << 20,
                              .optimizer = 3 << 20,
                              .inputs = 4 << 20,
                              .activations = 5 << 20,
                              .workspace = 6 << 20};
  CHECK(text_of(memory) ==
        "memory: 21.0 MiB = 1.0 weights + 2.0 gradients + 3.0 optimizer + 4.0 input + 5.0 "
        "activations + 6.0 workspace");
}

TEST_CASE("the largest batch is the last one that fits, whatever the range") {
  const auto total_at = [](std::int64_t batch) {
    return static_cast<std::size_t>(100 + 7 * batch);
  };
  for (std::int64_t most = 1; most <= 40; ++most) {
    for (std::int64_t fits = 0; fits <= most; ++fits) {
      REQUIRE(largest_batch(total_at(fits), most, total_at) == fits);
      REQUIRE(largest_batch(total_at(fits) + 6, most, total_at) == fits);
    }
  }
  CHECK(largest_batch(106, 40, total_at) == 0);
  CHECK(largest_batch(1000000, 40, total_at) == 40);
  CHECK(largest_batch(1000, 0, total_at) == 0);
}

TEST_CASE("the largest batch is found with few calls") {
  int asked = 0;
  const std::int64_t found = largest_batch(123456, 1 << 20, [&](std::int64_t batch) {
    ++asked;
    return static_cast<std::size_t>(batch);
  });
  CHECK(found == 123456);
  CHECK(asked <= 21);
}
