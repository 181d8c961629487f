// Packed weights of models on a stand-in GPU.
#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "backend/cuda/launches.h"
#include "gpu_under_test.h"
#include "model/model.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A model of the small network, in bf16.
struct PackedModel {
  explicit PackedModel(std::optional<AverageOptions> average = {}) {
    const Compute compute{*gpu.device, *gpu.queue, *gpu.executors, *launches};
    model.emplace(training_graph(kSmallNetwork, 2), compute,
                  ModelOptions{.target = cuda_target(Precision::bf16), .average = average});
    model->initialize(3);
    model->load({.images = images,
                 .fields = {std::as_bytes(std::span(labels))},
                 .sample_index = index,
                 .valid = 2});
  }
  double loss() {
    model->evaluate();
    return model->take_totals().loss;
  }
  [[nodiscard]] std::vector<std::byte> packed(const WeightBlocks& copy) {
    std::vector<std::byte> bytes(model->blocks().packed.bytes);
    gpu.queue->copy_to_host(bytes.data(), copy.packed, bytes.size());
    gpu.queue->wait();
    return bytes;
  }
  void scale(const WeightBlocks& copy, float factor) {
    std::vector<float> values(static_cast<std::size_t>(model->blocks().parameter_elements));
    gpu.queue->copy_to_host(values.data(), copy.weights, values.size() * sizeof(float));
    gpu.queue->wait();
    for (float& value : values) value *= factor;
    gpu.queue->copy_from_host(copy.weights, values.data(), values.size() * sizeof(float));
  }

  GpuUnderTest gpu;
  std::unique_ptr<UpdateLaunches> launches =
      cuda::make_update_launches(cuda::stream_of(*gpu.queue));
  std::vector<float> images = std::vector<float>(2 * 3 * 9 * 7, 0.5f);
  std::vector<std::int32_t> labels{1, 2};
  std::vector<std::int64_t> index{0, 1};
  std::optional<Model> model;
};

}  // namespace

TEST_CASE("a model with packed weights takes the memory that is forecast") {
  for (const bool averages : {false, true}) {
    PackedModel one(averages ? std::optional(AverageOptions{}) : std::nullopt);
    CHECK(one.model->blocks().packed.bytes > 0);
    CHECK(forecast(one.model->programs()).total() ==
          one.model->memory().bytes() + one.model->transient_bytes());
  }
}

TEST_CASE("evaluation reads the packed weights, which follow when weights are published") {
  PackedModel one;
  const double drawn = one.loss();
  one.scale(one.model->memory().trained(), 2);
  const double stale = one.loss();  // biases and batch norm are read as they are
  one.model->publish_weights(WeightChange::load);
  CHECK(one.loss() != stale);
  one.scale(one.model->memory().trained(), 0.5f);
  one.model->publish_weights(WeightChange::load);
  CHECK(one.loss() == drawn);
}

TEST_CASE("an average that is judged has packed weights of its own") {
  PackedModel one(AverageOptions{});
  Model& model = *one.model;
  const std::vector<std::byte> first = one.packed(model.memory().trained());
  CHECK(one.packed(model.memory().averaged()) == first);
  const double drawn = one.loss();
  one.scale(model.memory().averaged(), 2);
  model.publish_weights(WeightChange::average);
  CHECK(one.packed(model.memory().trained()) == first);
  CHECK(one.packed(model.memory().averaged()) != first);
  CHECK(one.loss() != drawn);
  model.publish_weights(WeightChange::load);
  CHECK(one.packed(model.memory().averaged()) == first);
  CHECK(one.loss() == drawn);
}

TEST_CASE("all weights are packed by one launch, and all gradients unpacked by one") {
  PackedModel one;
  const auto publish = one.gpu.device->record(
      *one.gpu.queue, [&] { one.model->publish_weights(WeightChange::step); });
  CHECK(publish->nodes() == 1);
  const std::size_t last = one.model->train().plan().steps.size() - 1;
  CHECK(one.model->train().plan().steps[last].kind == PlanStep::Kind::unpack);
  const auto unpack =
      one.gpu.device->record(*one.gpu.queue, [&] { one.model->train().run(last, last + 1); });
  CHECK(unpack->nodes() == 1);
}
