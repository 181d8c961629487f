// A model with an average of its weights: what evaluation reads, and what it takes.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "rank_training.h"
#include "small_training.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A model of the small network on the reference device, without a training program.
struct AveragedModel {
  explicit AveragedModel(std::optional<AverageOptions> average)
      : model(training_graph(kSmallNetwork, 2), {*device, *queue, *executors, *launches},
              {.target = reference_target(Precision::fp32), .slots = 1, .average = average}) {
    model.initialize(3);
    model.load({.images = images,
                .fields = {std::as_bytes(std::span(labels))},
                .sample_index = index,
                .valid = 2});
  }
  double loss() {
    model.evaluate();
    return model.take_totals().loss;
  }
  void clear_trained_weights() {
    const std::size_t bytes = static_cast<std::size_t>(model.blocks().parameter_elements) * 4;
    queue->fill(model.memory().weights(), std::byte{0}, bytes);
  }

  std::unique_ptr<Device> device = make_cpu_device();
  std::unique_ptr<Queue> queue = device->make_queue();
  std::unique_ptr<ExecutorFactory> executors = make_reference_executors();
  std::unique_ptr<UpdateLaunches> launches = make_cpu_update_launches(1);
  std::vector<float> images = std::vector<float>(2 * 3 * 9 * 7, 0.5f);
  std::vector<std::int32_t> labels{1, 2};
  std::vector<std::int64_t> index{0, 1};
  Model model;
};

}  // namespace

TEST_CASE("evaluation reads the copy that is judged, which follows when weights are published") {
  AveragedModel judged(AverageOptions{});
  const double drawn = judged.loss();
  judged.clear_trained_weights();
  CHECK(judged.loss() == drawn);
  judged.model.publish_weights(WeightChange::load);
  CHECK(judged.loss() != drawn);

  AveragedModel trained(AverageOptions{.judged = false});
  CHECK(trained.loss() == drawn);
  trained.clear_trained_weights();
  CHECK(trained.loss() == judged.loss());
}

TEST_CASE("the memory of an average is forecast with the weights, and only if there is one") {
  AveragedModel plain(std::nullopt), averaged(AverageOptions{});
  const MemoryForecast without = forecast(plain.model.programs());
  const MemoryForecast with = forecast(averaged.model.programs());
  CHECK(with.weights == 2 * without.weights);
  CHECK(with.total() == without.total() + without.weights);
  CHECK(averaged.model.memory().bytes() == plain.model.memory().bytes() + without.weights);
}

TEST_CASE("an average is reproducible, changes nothing else, and differs from the weights") {
  RankTraining training{.target = reference_target(Precision::fp32), .updates = 6};
  const TrainedRank plain = train_on_ranks(1, training)[0];
  training.average = AverageOptions{.rule = {.decay = 0.9, .warmup = true}};
  const TrainedRank averaged = train_on_ranks(1, training)[0];
  CHECK(differences(plain, averaged) == "average, evaluation");
  CHECK(differences(averaged, train_on_ranks(1, training)[0]) == "");
  CHECK_FALSE(
      std::equal(averaged.weights.begin(), averaged.weights.end(), averaged.averaged.begin()));
  training.average->judged = false;
  CHECK(differences(averaged, train_on_ranks(1, training)[0]) == "evaluation");
}
