// The loss of every sample of a split.
#include "run/session/sample_losses.h"

#include <doctest/doctest.h>

#include <cmath>

#include "data/sets/memory_dataset.h"
#include "run_text.h"

using namespace trainyard;

namespace {

RunConfig judged_by_loss(const std::string& loss) {
  return test::read_run(test::kTinyRun, {"loss=" + loss});
}

/// Two samples with labels and two numbers each.
MemoryDataset two_samples() {
  MemorySamples samples{.image = {1, 1, 1}, .floats = {0, 0}, .labels = {1, 0}, .classes = 2};
  const std::vector<float> numbers{1, 0, 0.5F, 2};
  const auto bytes = std::as_bytes(std::span(numbers));
  samples.fields.push_back({.of = {.name = "price", .shape = {2}, .type = DType::f32},
                            .values = {bytes.begin(), bytes.end()}});
  return MemoryDataset(std::move(samples));
}

std::vector<float> losses(const std::string& loss, const std::vector<float>& outputs) {
  const auto targets = split_targets(judged_by_loss(loss), two_samples());
  REQUIRE(targets.has_value());
  return sample_losses(*targets, outputs, 2);
}

}  // namespace

TEST_CASE("a sample's loss is the formula's of its row, without weights") {
  const std::vector<float> classes = losses("cross_entropy", {0, 0, 2, 0});
  CHECK(classes[0] == doctest::Approx(std::log(2.0)));
  CHECK(classes[1] == doctest::Approx(std::log1p(std::exp(-2.0))));
  CHECK(losses("{mse: {weight: 3}}", {0, 2, 1, 1}) == std::vector<float>{(0 + 1) / 2.0F, 0.5F});
  CHECK(losses("{mse: {target: price}}", {0, 0, 0.5F, 0}) == std::vector<float>{0.5F, 2});
  CHECK(losses("mse", {3, 0}) == std::vector<float>{4, 0});
}

TEST_CASE("a sample without one label, or without the target's field, has no loss") {
  CHECK_FALSE(split_targets(judged_by_loss("{mse: {target: size}}"), two_samples()).has_value());
  const MemoryDataset positions(
      {.image = {1, 1, 1}, .floats = {0}, .labels = {0, 1}, .label = {2}, .classes = 2});
  CHECK_FALSE(split_targets(judged_by_loss("cross_entropy"), positions).has_value());
}
