#include "data/text/synthetic_sequences.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "helpers.h"

namespace trainyard {

using test::field_of;

namespace {

SyntheticSequencesOptions token_options(SequenceLabels labels) {
  SyntheticSequencesOptions options;
  options.steps = 6;
  options.vocabulary = 9;
  options.classes = 3;
  options.labels = labels;
  options.size = 50;
  return options;
}

/// The elements of two samples that are equal.
std::int64_t equal_elements(const std::vector<std::int32_t>& a,
                            const std::vector<std::int32_t>& b) {
  std::int64_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return equal;
}

}  // namespace

TEST_CASE("sequences of tokens have a label, tokens below the vocabulary and no image") {
  const auto set = open_synthetic_sequences(token_options(SequenceLabels::classes), 1);
  CHECK(set->size() == 50);
  CHECK_FALSE(has_images(*set));
  CHECK(sample_text(*set) == "of 6 tokens");
  REQUIRE(set->vocabulary() != nullptr);
  CHECK(set->vocabulary()->size() == 9);
  const std::vector<SampleField> fields = set->fields();
  REQUIRE(fields.size() == 2);
  CHECK(fields[0] == SampleField{});
  CHECK(fields[1] == SampleField{.name = "tokens", .shape = {6}});
  for (std::int64_t i = 0; i < set->size(); ++i) {
    CHECK(set->label(i) == i % 3);
    for (const std::int32_t token : field_of(*set, 1, i)) CHECK((token >= 0 && token < 9));
  }
}

TEST_CASE("a label of each position is the token after it, and that of a sequence the last one") {
  const auto every = open_synthetic_sequences(token_options(SequenceLabels::every), 1);
  const auto next = open_synthetic_sequences(token_options(SequenceLabels::next), 1);
  CHECK(every->fields()[0] == SampleField{.shape = {6}});
  CHECK(every->classes() == 9);
  for (std::int64_t i = 0; i < every->size(); ++i) {
    const std::vector<std::int32_t> tokens = field_of(*every, 1, i);
    const std::vector<std::int32_t> labels = field_of(*every, 0, i);
    CHECK(std::equal(tokens.begin() + 1, tokens.end(), labels.begin()));
    CHECK(every->label(i) == labels.back());
    CHECK(field_of(*next, 0, i) == std::vector<std::int32_t>{labels.back()});
    CHECK(field_of(*next, 1, i) == tokens);
  }
}

TEST_CASE("learnable tokens follow their rule in three of four places") {
  SyntheticSequencesOptions options = token_options(SequenceLabels::every);
  options.steps = 400;
  options.learnable = true;
  const auto chain = open_synthetic_sequences(options, 1);
  const std::vector<std::int32_t> tokens = field_of(*chain, 1, 0);
  int follow = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) follow += tokens[i] == (tokens[i - 1] + 1) % 9;
  CHECK(follow > 399 * 0.7);  // 0.75 + 0.25 / 9 expected, deviation 0.021
  CHECK(follow < 399 * 0.86);
  options.labels = SequenceLabels::classes;
  const auto classes = open_synthetic_sequences(options, 1);
  const auto same = equal_elements(field_of(*classes, 1, 0), field_of(*classes, 1, 3));
  const auto other = equal_elements(field_of(*classes, 1, 0), field_of(*classes, 1, 1));
  CHECK(same > 400 * 0.5);
  CHECK(other < 400 * 0.25);
}

TEST_CASE("numeric sequences are images of zeros and ones, one row of features a step") {
  SyntheticSequencesOptions options;
  options.steps = 40;
  options.features = 60;
  options.classes = 60;
  const auto set = open_synthetic_sequences(options, 1);
  CHECK(set->image_shape() == Shape{60, 1, 40});
  CHECK(set->vocabulary() == nullptr);
  std::vector<float> image(60 * 40);
  set->read(5, image.data());
  const auto ones = std::count(image.begin(), image.end(), 1.0f);
  CHECK(ones + std::count(image.begin(), image.end(), 0.0f) == 2400);
  CHECK(std::abs(ones - 1200) < 123);  // five deviations of 24.5
}

TEST_CASE("synthetic sequences depend on seed, split and index and on nothing else") {
  SyntheticSequencesOptions options = token_options(SequenceLabels::classes);
  const auto set = open_synthetic_sequences(options, 1);
  CHECK(field_of(*set, 1, 5) == field_of(*open_synthetic_sequences(options, 1), 1, 5));
  CHECK(field_of(*set, 1, 5) != field_of(*set, 1, 6));
  CHECK(field_of(*set, 1, 5) != field_of(*open_synthetic_sequences(options, 2), 1, 5));
  options.split = Split::test;
  CHECK(field_of(*set, 1, 5) != field_of(*open_synthetic_sequences(options, 1), 1, 5));
  CHECK(set->fingerprint() != open_synthetic_sequences(options, 1)->fingerprint());
}

TEST_CASE("a feeder gives tokens as a field of its batches, the same for any number of workers") {
  const auto set = open_synthetic_sequences(token_options(SequenceLabels::every), 1);
  const Pipeline pipeline(set->image_shape(), {}, {});
  const auto epoch = [&](int workers) {
    Feeder feeder(*set, pipeline,
                  {.batch = 4, .seed = 3, .workers = workers, .fields = {"tokens", "label"}});
    feeder.start(1);
    std::vector<std::int32_t> numbers;
    for (std::int64_t step = 0; step < feeder.batches_per_epoch(); ++step) {
      const Batch& batch = feeder.next();
      CHECK(batch.images.empty());
      REQUIRE(batch.fields.size() == 2);
      for (const auto& field : batch.fields) {
        CHECK(field.size() == 4 * 6 * sizeof(std::int32_t));
        const auto* const values = reinterpret_cast<const std::int32_t*>(field.data());
        numbers.insert(numbers.end(), values, values + 24);
      }
      CHECK(std::vector(numbers.end() - 48, numbers.end() - 42) ==
            field_of(*set, 1, batch.sample_index[0]));
    }
    return numbers;
  };
  CHECK(epoch(0) == epoch(3));
}

TEST_CASE("what does not fit at the front is cut there, and what is missing is zero") {
  const std::vector<std::int32_t> tokens{5, 6, 7};
  std::vector<std::int32_t> out(2, 9);
  CHECK(fit_at_front(tokens, out) == 2);
  CHECK(out == std::vector<std::int32_t>{6, 7});
  out.assign(5, 9);
  CHECK(fit_at_front(tokens, out) == 3);
  CHECK(out == std::vector<std::int32_t>{0, 0, 5, 6, 7});
}

}  // namespace trainyard
