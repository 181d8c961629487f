// The memory forecast, the refusal of a model that does not fit, and the largest batch that would.
#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "device/device.h"
#include "every_op.h"
#include "model/model.h"
#include "model/model_programs.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

const std::string kFittedNetwork =
    "{input: [3, 16, 16], layers: [conv: {filters: 8, kernel: 3}, bn, relu, max_pool: 2, dense: 4, "
    "softmax]}";

/// A CPU with this much free memory (0: not known).
class SmallDevice final : public Device {
 public:
  explicit SmallDevice(std::size_t free) : free_(free) {}
  [[nodiscard]] std::string name() const override { return "small"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    allocated += bytes;
    return cpu_->allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return cpu_->allocate_host(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return cpu_->make_queue(); }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return cpu_->make_event(); }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    return cpu_->record(queue, std::move(work));
  }
  [[nodiscard]] std::size_t free_bytes() const override { return free_; }

  std::size_t allocated = 0;

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device();
  std::size_t free_;
};

ModelOptions options() { return {.target = reference_target(Precision::fp32), .slots = 1}; }

std::size_t total_at(std::int64_t batch, const ExecutorFactory& executors) {
  return forecast(make_programs(training_graph(kFittedNetwork, batch), executors, options()))
      .total();
}

std::string refusal(std::int64_t batch, std::size_t free) {
  SmallDevice device(free);
  const auto executors = make_reference_executors();
  try {
    const auto queue = device.make_queue();
    const auto launches = make_cpu_update_launches(1);
    const Model model(training_graph(kFittedNetwork, batch),
                      {device, *queue, *executors, *launches}, options());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::memory);
    CHECK(device.allocated == 0);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the forecast equals what a model allocates, to the byte") {
  const std::pair<std::string, bool> cases[] = {{kFittedNetwork, false},
                                                {kFittedNetwork, true},
                                                {kEveryOp, false},
                                                {kEverySequenceOp, false}};
  for (const auto& [network, accumulates] : cases) {
    SmallDevice device(0);
    const auto executors = make_reference_executors();
    ModelOptions with = options();
    with.target = cuda_target(Precision::bf16);  // its maps are copied into the workspace
    with.accumulates = accumulates;
    const auto queue = device.make_queue();
    const auto launches = make_cpu_update_launches(1);
    const Model model(training_graph(network, 6), {device, *queue, *executors, *launches}, with);
    const MemoryForecast memory = forecast(model.programs());
    CHECK(memory.total() == device.allocated);
    CHECK(memory.weights > 0);
    CHECK(memory.gradients >=
          static_cast<std::size_t>(model.blocks().gradient_elements()) * 4 * (accumulates ? 2 : 1));
    CHECK(memory.workspace > 0);
  }
}

TEST_CASE("the forecast's gradients grow by one block per doubling of a rank's shards") {
  const auto executors = make_reference_executors();
  const auto gradients_at = [&](std::int64_t shards, bool accumulates) {
    ModelOptions with = options();
    with.shards = shards;
    with.accumulates = accumulates;
    return forecast(make_programs(training_graph(kFittedNetwork, 6), *executors, with)).gradients;
  };
  const std::size_t block = gradients_at(1, false);
  CHECK(gradients_at(2, false) == 2 * block);
  CHECK(gradients_at(4, false) == 3 * block);
  CHECK(gradients_at(256, false) == 9 * block);
  CHECK(gradients_at(1, true) == 2 * block);
  CHECK(gradients_at(4, true) == 4 * block);
}

TEST_CASE("a model that does not fit is refused with the largest batch that does") {
  const auto executors = make_reference_executors();
  const std::size_t free = total_at(10, *executors);
  REQUIRE(total_at(11, *executors) > free);
  CHECK(refusal(10, free) == "");
  const std::string message = refusal(64, free);
  CHECK(message.find("out of memory on small: ") == 0);
  CHECK(message.find(" MiB are free, limited by its memory; memory: ") != std::string::npos);
  CHECK(message.find("; the largest batch that would fit is 10, not 64: lower 'batch', or raise "
                     "'accumulate'") != std::string::npos);
}

TEST_CASE("threads and libraries without room besides a model are refused with their needs") {
  const SmallDevice small(std::size_t{60} << 20);
  CHECK_NOTHROW(require_program_memory(small, 1));
  CHECK_THROWS_WITH_AS(
      require_program_memory(small, 2),
      "out of memory: training on 2 threads takes 64 MiB besides the model, but 60.0 MiB are free, "
      "limited by its memory; raise that limit, or use fewer 'threads' and 'data.workers'",
      Error);
  CHECK_NOTHROW(require_program_memory(SmallDevice(0), 2));
}

TEST_CASE("a model that fits at no batch size is reported as such") {
  CHECK(refusal(8, 1000).find("; not even a batch of 1 would fit: choose a smaller network") !=
        std::string::npos);
}

TEST_CASE("a device that does not know its free memory is not checked") {
  CHECK(refusal(8, 0) == "");
}

TEST_CASE("a graph converted to another batch equals the graph built at that batch") {
  const TrainingGraph changed = with_batch(training_graph(kFittedNetwork, 3), 7);
  const TrainingGraph built = training_graph(kFittedNetwork, 7);
  REQUIRE(changed.graph.values.size() == built.graph.values.size());
  for (std::size_t i = 0; i < built.graph.values.size(); ++i) {
    CHECK(changed.graph.values[i].shape == built.graph.values[i].shape);
  }
  for (std::size_t i = 0; i < built.graph.nodes.size(); ++i) {
    const Signature &a = changed.graph.nodes[i].signature, &b = built.graph.nodes[i].signature;
    CHECK(a.multiply_adds == b.multiply_adds);
    CHECK(a.outputs == b.outputs);
  }
}
