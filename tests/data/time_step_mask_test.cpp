#include <doctest/doctest.h>

#include "data/feed/batch_fields.h"
#include "data/sets/token_set.h"
#include "helpers.h"

namespace trainyard {
namespace {

using test::message_of;

/// Three numeric sequences of four steps, of two features.
std::unique_ptr<Dataset> numeric(const std::vector<std::int32_t>& lengths) {
  MemorySamples samples{.image = {2, 1, 4},
                        .floats = std::vector<float>(24),
                        .labels = {0, 1, 2, 0, 1, 1, 2, 2, 0, 0, 1, 2},
                        .label = {4},
                        .classes = 3};
  samples.fields.push_back(field_of({.name = kLengthField}, lengths));
  return std::make_unique<MemoryDataset>(std::move(samples));
}

std::unique_ptr<Dataset> padded_tokens(PaddingSide padding) {
  return token_set_of({.steps = 3,
                       .tokens = {0, 4, 5, 6, 0, 0},
                       .labels = {0, 1},
                       .lengths = {2, 1},
                       .padding = padding,
                       .classes = 2,
                       .vocabulary = std::make_shared<const Vocabulary>(numbered_vocabulary(9)),
                       .fingerprint = "f"});
}

std::vector<std::int32_t> mask_of(const Dataset& set, std::int64_t index) {
  const TimeStepMask mask(set);
  std::vector<std::int32_t> steps(mask.bytes() / sizeof(std::int32_t));
  mask.read(set, index, reinterpret_cast<std::byte*>(steps.data()));
  return steps;
}

/// The batch of all three samples: the field asked for, and the weights.
struct ThreeSamples {
  std::vector<std::int32_t> field;
  std::vector<float> weights;
};

ThreeSamples batch_of(const Dataset& set, const std::string& field, const ClassWeightPolicy& rule) {
  const Pipeline pipeline(set.image_shape(), {}, {});
  Feeder feeder(set, pipeline,
                {.batch = 3,
                 .shuffle = false,
                 .train = false,
                 .workers = 0,
                 .fields = {field},
                 .weights = rule});
  feeder.start(0);
  const Batch& batch = feeder.next();
  return {.field = test::labels_of(batch), .weights = test::numbers_of(batch, 1)};
}

}  // namespace

TEST_CASE("a mask has ones for as many steps as a sample has, first or last") {
  const auto set = numeric({3, 0, 4});
  CHECK(mask_of(*set, 0) == std::vector<std::int32_t>{1, 1, 1, 0});
  CHECK(mask_of(*set, 1) == std::vector<std::int32_t>{0, 0, 0, 0});
  CHECK(mask_of(*set, 2) == std::vector<std::int32_t>{1, 1, 1, 1});
  CHECK(mask_of(*padded_tokens(PaddingSide::front), 0) == std::vector<std::int32_t>{0, 1, 1});
  CHECK(mask_of(*padded_tokens(PaddingSide::end), 1) == std::vector<std::int32_t>{1, 0, 0});
}

TEST_CASE("lengths that are not there or not those of sequences are refused") {
  const auto message = [](ErrorKind kind, const Dataset& set) {
    return message_of(kind, [&] { const TimeStepMask mask(set); });
  };
  CHECK(message(ErrorKind::data, *numeric({3, 5, 4})) ==
        "sample 1 (from 0) has length 5, expected 0 to 4, the steps of a sample");
  CHECK(message(ErrorKind::data, *numeric({3, 4, -1})) ==
        "sample 2 (from 0) has length -1, expected 0 to 4, the steps of a sample");
  const MemoryDataset without(
      {.image = {2, 1, 4}, .floats = std::vector<float>(8), .labels = {0}, .classes = 1});
  CHECK(message(ErrorKind::config, without) ==
        "the network's input has 'lengths: true', but the data have no field 'length' with a whole "
        "number for each sample; add it to the data, or remove 'lengths'");
}

TEST_CASE("batches have the mask as a field, and weigh what it leaves out with 0") {
  const auto set = numeric({3, 0, 4});
  const ThreeSamples batch =
      batch_of(*set, kMaskField, {.of_class = {1, 2, 0.5f}, .ignored = 0, .mask = kMaskField});
  CHECK(batch.field == std::vector<std::int32_t>{1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  CHECK(batch.weights == std::vector<float>{0, 2, 0.5f, 0, 0, 0, 0, 0, 0, 0, 2, 0.5f});
}

TEST_CASE("tokens of 0 leave out their positions") {
  const auto set =
      token_set_of({.steps = 4,
                    .tokens = {0, 0, 7, 1, 3, 0, 2, 0, 1, 1, 1, 1},
                    .labels = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
                    .form = LabelForm::each,
                    .classes = 2,
                    .vocabulary = std::make_shared<const Vocabulary>(numbered_vocabulary(9)),
                    .fingerprint = "f"});
  const ThreeSamples batch = batch_of(*set, kTokensField, {.mask = kTokensField});
  CHECK(batch.weights == std::vector<float>{0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1});
}

}  // namespace trainyard
