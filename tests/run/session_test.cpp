// A session leaves its config as it was.
#include "run/session/session.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "data/augment/whitening.h"
#include "run/config/best_metric_choice.h"
#include "run/config/resolved_config.h"
#include "run/snapshot.h"
#include "run_text.h"
#include "trained_session.h"

using namespace trainyard;

namespace {

/// With one of everything that is built from a config.
constexpr const char* kWholeRun = R"(name: tiny
network:
  input: [3, 8, 8]
  layers: [conv: {filters: 4, kernel: 3}, bn, relu, flatten, dropout: 0.3, dense: 4]
data:
  train: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 43}
  val: {source: synthetic, shape: [3, 8, 8], classes: 4, size: 18, split: test}
  preprocess: [mean_image: train, std_rgb: train]
  augment: [hflip: 0.5, pad_crop: 1]
  workers: 0
batch: {per_gpu: 8}
loss: cross_entropy
metrics: [accuracy, top_k: 2]
optimizer: {sgd: {lr: 0.05, momentum: 0.9}}
schedule: {poly: {power: 1, by: step}}
lr_scaling: {linear: {batch: 4, warmup_epochs: 1}}
epochs: 2
)";

std::string weights_of(Session& session) {
  std::string bytes;
  const CheckpointContent content = snapshot(session, {});
  for (const NamedTensor& tensor : content.files.at("weights.safetensors")) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return bytes;
}

/// The weights of a session trained to the end.
std::string trained_weights(Session& session, RankGroup& alone) {
  session.model().initialize(static_cast<std::uint64_t>(session.config().seed));
  test::train_to_end(session, alone);
  return weights_of(session);
}

}  // namespace

TEST_CASE("whitening filters are made of the training samples, for a first convolution alone") {
  const auto run_with = [](const std::string& layers) {
    std::string text = test::kTinyRun;
    text.replace(text.find("[dense: 4]"), 10, "[" + layers + ", flatten, dense: 4]");
    return test::read_run(text);
  };
  RankGroup alone({});
  Session session(run_with("conv: {filters: 24, kernel: 2, init: whitening}"), {.threads = 1},
                  nullptr, alone);
  session.initialize();
  const CheckpointContent content = snapshot(session, {});
  const auto& tensors = content.files.at("weights.safetensors");
  const auto found = std::ranges::find(tensors, "conv1.weight", &NamedTensor::name);
  REQUIRE(found != tensors.end());
  const std::vector<float> expected =
      whitening_filters(*session.data().train, *session.data().pipeline, 2, 2, 5e-4);
  REQUIRE(found->bytes.size() == expected.size() * sizeof(float));
  CHECK(std::memcmp(found->bytes.data(), expected.data(), found->bytes.size()) == 0);
  const std::string wanted =
      "3:38: 'init: whitening' requires a convolution of the network's input, without groups and "
      "dilation, with two filters for each value of a patch, found ";
  const std::pair<const char*, const char*> refused[] = {
      {"conv: {filters: 12, kernel: 2, init: whitening}", "12 filters; use 24"},
      {"dense: {units: 4, init: whitening}", "'dense1'"},
      {"conv: {filters: 24, kernel: 2, dilation: 2, init: whitening}", "'conv1'"},
      {"conv: {filters: 6, kernel: 1, groups: 3, init: whitening}", "'conv1'"}};
  for (const auto& [layer, reason] : refused) {
    CAPTURE(layer);
    CHECK(test::refusal([&, config = run_with(layer)] {
            const Session wrong(config, {.threads = 1}, nullptr, alone);
          }) == wanted + reason);
  }
}

TEST_CASE("a session shares what its config holds and leaves it whole") {
  RankGroup alone({});
  const RunConfig config = test::read_run(kWholeRun);
  const std::string resolved = resolved_yaml(config);
  Session session(config, {.threads = 1}, nullptr, alone);
  const RunConfig& after = session.config();
  CHECK(resolved_yaml(after) == resolved);
  CHECK((after.loss == config.loss));
  CHECK((after.metrics == config.metrics));
  CHECK((after.optimizer == config.optimizer));
  CHECK((after.schedule == config.schedule));
  CHECK((after.data.train.source == config.data.train.source));
  CHECK((after.data.augment == config.data.augment));
  CHECK((after.data.preprocess == config.data.preprocess));
  CHECK(metric_names(after) == session.metric_names());
  CHECK(after.loss != nullptr);
  for (const auto& step : after.data.preprocess) CHECK(step->step().count == 0);  // not prepared
}

TEST_CASE("another session is made from a session's config, and trains to the same bits") {
  RankGroup alone({});
  Session first(test::read_run(kWholeRun), {.threads = 1}, nullptr, alone);
  const std::string weights = trained_weights(first, alone);
  Session second(first.config(), {.threads = 1}, nullptr, alone);
  second.model().initialize(static_cast<std::uint64_t>(second.config().seed));
  CHECK(weights_of(second) != weights);
  CHECK(trained_weights(second, alone) == weights);
}
