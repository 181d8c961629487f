#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "data/feed/batch_fields.h"
#include "helpers.h"

namespace trainyard {
namespace {

std::vector<std::byte> bytes_of(const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Six samples of three classes, with weights of their own and two targets each.
std::unique_ptr<Dataset> weighted_set(float second = 2) {
  MemorySamples samples{
      .image = {1, 1, 1}, .floats = {0, 1, 2, 3, 4, 5}, .labels = {0, 1, 2, 0, 1, 0}, .classes = 3};
  MemoryField& importance = samples.fields.emplace_back();
  importance.of.name = "importance";
  importance.of.type = DType::f32;
  importance.values = bytes_of({1, second, 3, 0, 5, 6});
  MemoryField& targets = samples.fields.emplace_back();
  targets.of.name = "targets";
  targets.of.shape = {2};
  targets.of.type = DType::f32;
  targets.values = bytes_of({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  return std::make_unique<MemoryDataset>(std::move(samples), 5);
}

}  // namespace

TEST_CASE("the weight of a sample is that of its class times its own, 0 for an ignored label") {
  const ClassWeightPolicy rule{.of_class = {1, 2, 0.5f}, .ignored = 2};
  CHECK(rule.weight(1, 1) == 2);
  CHECK(rule.weight(1, 0.25f) == 0.5f);
  CHECK(rule.weight(2, 1) == 0);
  CHECK(rule.weight(-1, 1) == 0);
  CHECK(ClassWeightPolicy{.ignored = -1}.weight(-1, 1) == 0);
  CHECK(ClassWeightPolicy{.ignored = -1}.weight(7, 3) == 3);
}

TEST_CASE("a counting rule has weights of 1, and of 0 for what is ignored") {
  const ClassWeightPolicy rule = ClassWeightPolicy{.of_class = {4, 2, 0}, .ignored = 1}.counting();
  CHECK(rule.weight(0, 5) == 1);
  CHECK(rule.weight(1, 5) == 0);
  CHECK(rule.weight(2, 5) == 0);
  CHECK(rule.weight(0, 0) == 0);
}

TEST_CASE("balanced weights give each class an equal part") {
  const std::vector<std::int32_t> labels{0, 0, 0, 1, 3, 3, -1};
  CHECK(balanced_weights(labels, 3, {}) == std::vector<float>{4.0f / 9, 4.0f / 3, 0});
  CHECK(balanced_weights(labels, 4, 3) == std::vector<float>{1.0f / 3, 1, 0, 0});
}

TEST_CASE("a batch has the fields that were asked for, in their order, then the weights") {
  const auto set = weighted_set();
  Pipeline pipeline(set->image_shape(), {}, {});
  Feeder feeder(*set, pipeline,
                {.batch = 4,
                 .shuffle = false,
                 .train = false,
                 .workers = 0,
                 .fields = {"targets", "label"},
                 .weights = ClassWeightPolicy{.of_class = {1, 2, 1}, .field = "importance"}});
  feeder.start(0);
  const Batch& first = feeder.next();
  REQUIRE(first.fields.size() == 3);
  CHECK(test::numbers_of(first, 0) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(first.fields[1].size() == 4 * sizeof(std::int32_t));
  CHECK(test::numbers_of(first, 2) == std::vector<float>{1, 4, 3, 0});
  const Batch& last = feeder.next();  // sample 4, then sample 0 as padding
  CHECK(last.valid == 1);
  CHECK(test::numbers_of(last, 0) == std::vector<float>{8, 9, 0, 1, 0, 1, 0, 1});
  CHECK(test::numbers_of(last, 2)[0] == 10);
}

TEST_CASE("a sample's weight that is negative or not a number is refused with the sample") {
  const auto refusal = [](float second) {
    const auto set = weighted_set(second);
    Pipeline pipeline(set->image_shape(), {}, {});
    Feeder feeder(*set, pipeline,
                  {.batch = 3,
                   .shuffle = false,
                   .workers = 0,
                   .weights = ClassWeightPolicy{.field = "importance"}});
    return test::message_of(ErrorKind::data, [&] {
      feeder.start(0);
      static_cast<void>(feeder.next());
    });
  };
  CHECK(refusal(-0.5F).ends_with(
      "sample 1 (from 0): 'importance' is -0.5; the weight of a sample is a number of at least 0"));
  CHECK(refusal(std::numeric_limits<float>::quiet_NaN()).find("'importance' is nan; ") !=
        std::string::npos);
}

TEST_CASE("a field that the data do not have is refused with those that they have") {
  const auto set = weighted_set();
  Pipeline pipeline(set->image_shape(), {}, {});
  const auto refusal = [&](const FeederOptions& options) {
    return test::message_of(ErrorKind::config, [&] { Feeder feeder(*set, pipeline, options); });
  };
  CHECK(refusal({.fields = {"target"}}) ==
        "the data have no field 'target'; their fields are 'label', 'importance', 'targets'");
  CHECK(refusal({.weights = ClassWeightPolicy{.field = "targets"}}) ==
        "field 'targets' of the data is f32 [2], expected a weight: one f32 a sample");
}

}  // namespace trainyard
