#include "data/feed/feeder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "data/augment/flip.h"
#include "data/augment/keras_warps.h"
#include "data/augment/preprocess.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

const Shape kFedShape{2, 5, 6};

Pipeline augmenting_pipeline() {
  ShiftOptions options;
  options.x = options.y = 0.3;
  options.interpolation = Interpolation::bilinear;
  std::vector<std::shared_ptr<const Augmentation>> augment;
  augment.push_back(std::make_unique<Shift>(options));
  augment.push_back(std::make_unique<Flip>(Flip::Axis::horizontal, 0.5));
  std::vector<std::shared_ptr<const Preprocess>> preprocess;
  preprocess.push_back(std::make_unique<Scale>(1.0 / 255));
  return Pipeline(kFedShape, std::move(augment), std::move(preprocess));
}

/// A batch with its own memory.
struct Copy {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  std::vector<std::int64_t> sample_index;
  std::int64_t valid = 0;
  bool operator==(const Copy&) const = default;
};

Copy copy_of(const Batch& batch) {
  return {{batch.images.begin(), batch.images.end()},
          test::labels_of(batch),
          {batch.sample_index.begin(), batch.sample_index.end()},
          batch.valid};
}

std::vector<Copy> rest_of_epoch(Feeder& feeder, std::uint32_t epoch, std::int64_t first_step = 0) {
  feeder.start(epoch, first_step);
  std::vector<Copy> batches;
  for (std::int64_t step = first_step; step < feeder.batches_per_epoch(); ++step) {
    batches.push_back(copy_of(feeder.next()));
  }
  return batches;
}

FeederOptions training(int workers) {
  return {
      .batch = 4, .seed = 11, .shuffle = true, .train = true, .workers = workers, .prefetch = 2};
}

/// Fails when sample 17 is read.
class BadSample final : public Dataset {
 public:
  explicit BadSample(const Dataset& base) : base_(base) {}
  [[nodiscard]] std::int64_t size() const override { return base_.size(); }
  [[nodiscard]] Shape image_shape() const override { return base_.image_shape(); }
  [[nodiscard]] std::int64_t classes() const override { return base_.classes(); }
  void read(std::int64_t index, float* image) const override {
    if (index == 17) throw Error(ErrorKind::data, "sample 17 is bad");
    base_.read(index, image);
  }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override { return base_.label(index); }
  [[nodiscard]] std::string fingerprint() const override { return ""; }

 private:
  const Dataset& base_;
};

}  // namespace

TEST_CASE("the order of an epoch is a permutation that changes with seed and epoch") {
  const auto order = epoch_order(1, 2, 1000, true);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::min_element(order.begin(), order.end()) == 0);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  CHECK(epoch_order(1, 2, 1000, true) == order);
  CHECK(epoch_order(2, 2, 1000, true) != order);
  CHECK(epoch_order(1, 3, 1000, true) != order);
  CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("the order without shuffling is the natural one") {
  const auto order = epoch_order(1, 2, 5, false);
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("the order of a known seed does not change") {
  // Stored once; a change would make runs of older versions resume with different samples.
  CHECK(epoch_order(42, 0, 8, true) == std::vector<std::int64_t>{6, 2, 0, 5, 4, 1, 7, 3});
}

TEST_CASE("batches are the same for 0, 1 and 4 workers, in training and evaluation") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  for (const bool train : {true, false}) {
    FeederOptions options = training(0);
    options.train = train;
    Feeder alone(*set, pipeline, options);
    for (const int workers : {1, 4}) {
      options.workers = workers;
      Feeder feeder(*set, pipeline, options);
      for (const std::uint32_t epoch : {0u, 1u, 5u}) {
        CAPTURE(workers);
        CAPTURE(epoch);
        CHECK(rest_of_epoch(feeder, epoch) == rest_of_epoch(alone, epoch));
      }
    }
  }
}

TEST_CASE("batches do not depend on the prefetch") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  FeederOptions options = training(3);
  options.prefetch = 1;
  Feeder shallow(*set, pipeline, options);
  options.prefetch = 7;
  Feeder deep(*set, pipeline, options);
  CHECK(rest_of_epoch(shallow, 3) == rest_of_epoch(deep, 3));
}

TEST_CASE("an epoch resumed at any step continues with the same batches") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  Feeder feeder(*set, pipeline, training(2));
  const std::vector<Copy> whole = rest_of_epoch(feeder, 2);
  REQUIRE(whole.size() == 15);
  for (std::size_t step = 0; step <= whole.size(); ++step) {
    CAPTURE(step);
    const auto rest = rest_of_epoch(feeder, 2, static_cast<std::int64_t>(step));
    CHECK(rest ==
          std::vector<Copy>(whole.begin() + static_cast<std::ptrdiff_t>(step), whole.end()));
  }
}

TEST_CASE("start in the middle of an epoch discards prefetched batches") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  Feeder feeder(*set, pipeline, training(4));
  const std::vector<Copy> wanted = rest_of_epoch(feeder, 1);
  for (std::int64_t taken = 0; taken < 6; ++taken) {
    feeder.start(0);
    for (std::int64_t i = 0; i < taken; ++i) (void)feeder.next();
    CHECK(rest_of_epoch(feeder, 1) == wanted);
  }
}

TEST_CASE("training takes each sample at most once and drops the remainder") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  Feeder feeder(*set, pipeline, training(1));
  CHECK(feeder.batches_per_epoch() == 15);
  std::set<std::int64_t> seen;
  for (const Copy& batch : rest_of_epoch(feeder, 0)) {
    CHECK(batch.valid == 4);
    seen.insert(batch.sample_index.begin(), batch.sample_index.end());
    for (std::size_t i = 0; i < 4; ++i) CHECK(batch.labels[i] == batch.sample_index[i] % 10);
  }
  CHECK(seen.size() == 60);
}

TEST_CASE("evaluation takes every sample once and pads with sample 0") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  FeederOptions options = training(2);
  options.train = false;
  options.shuffle = false;
  Feeder feeder(*set, pipeline, options);
  CHECK(feeder.batches_per_epoch() == 16);
  const std::vector<Copy> batches = rest_of_epoch(feeder, 0);
  std::vector<std::int64_t> seen;
  for (const Copy& batch : batches) {
    seen.insert(seen.end(), batch.sample_index.begin(), batch.sample_index.begin() + batch.valid);
  }
  std::vector<std::int64_t> all(61);
  std::iota(all.begin(), all.end(), 0);
  CHECK(seen == all);
  const Copy& last = batches.back();
  CHECK(last.valid == 1);
  CHECK(last.sample_index == std::vector<std::int64_t>{60, 0, 0, 0});
  CHECK(last.labels[1] == 0);
  const std::size_t elements = static_cast<std::size_t>(kFedShape.elements());
  const std::vector<float> first(batches.front().images.begin(),
                                 batches.front().images.begin() + kFedShape.elements());
  for (std::size_t i = 1; i < 4; ++i) {
    const auto begin = last.images.begin() + static_cast<std::ptrdiff_t>(i * elements);
    CHECK(std::equal(first.begin(), first.end(), begin));
  }
}

TEST_CASE("evaluation does not augment") {
  const auto set = random_bytes_set(8, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  FeederOptions options = training(1);
  options.train = false;
  Feeder feeder(*set, pipeline, options);
  CHECK(rest_of_epoch(feeder, 0).size() == 2);
  for (const Copy& batch : rest_of_epoch(feeder, 3)) {
    std::vector<float> image(static_cast<std::size_t>(kFedShape.elements()));
    set->read(batch.sample_index[0], image.data());
    for (float& value : image) value *= static_cast<float>(1.0 / 255);
    CHECK(std::equal(image.begin(), image.end(), batch.images.begin()));
  }
}

TEST_CASE("the slices of the ranks make up the global batch, in training and evaluation") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  for (const bool train : {true, false}) {
    FeederOptions options = training(1);
    options.train = train;
    options.batch = 6;
    Feeder one(*set, pipeline, options);
    const std::vector<Copy> whole = rest_of_epoch(one, 4);
    options.batch = 2;
    options.ranks = 3;
    std::vector<Copy> joined(whole.size());
    for (options.rank = 0; options.rank < 3; ++options.rank) {
      Feeder slice(*set, pipeline, options);
      const std::vector<Copy> batches = rest_of_epoch(slice, 4);
      REQUIRE(batches.size() == whole.size());
      for (std::size_t i = 0; i < batches.size(); ++i) {
        Copy& to = joined[i];
        const Copy& from = batches[i];
        to.images.insert(to.images.end(), from.images.begin(), from.images.end());
        to.labels.insert(to.labels.end(), from.labels.begin(), from.labels.end());
        to.sample_index.insert(to.sample_index.end(), from.sample_index.begin(),
                               from.sample_index.end());
        to.valid += from.valid;
      }
    }
    CHECK(joined == whole);
  }
}

TEST_CASE("an error in a worker is thrown by the next() of its batch, at any number of workers") {
  const auto base = random_bytes_set(61, kFedShape);
  const BadSample set(*base);
  const Pipeline pipeline = augmenting_pipeline();
  for (const int workers : {0, 1, 4}) {
    CAPTURE(workers);
    FeederOptions options = training(workers);
    options.shuffle = false;
    Feeder feeder(set, pipeline, options);
    feeder.start(0);
    for (int step = 0; step < 4; ++step) CHECK(feeder.next().sample_index[0] == 4 * step);
    for (int again = 0; again < 2; ++again) {
      CHECK(message_of(ErrorKind::data, [&] { (void)feeder.next(); }) == "sample 17 is bad");
    }
    feeder.start(0, 5);
    CHECK(feeder.next().sample_index[0] == 20);
  }
}

TEST_CASE("a feeder can be destroyed at any moment") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  for (int taken = 0; taken < 5; ++taken) {
    Feeder feeder(*set, pipeline, training(4));
    if (taken > 0) feeder.start(0);
    for (int i = 1; i < taken; ++i) CHECK(feeder.next().valid == 4);
  }
}

TEST_CASE("a training set smaller than the global batch is refused") {
  const auto set = random_bytes_set(61, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  FeederOptions options = training(1);
  options.batch = 16;
  options.ranks = 4;
  CHECK(message_of(ErrorKind::config, [&] { const Feeder feeder(*set, pipeline, options); }) ==
        "the training split has 61 samples, fewer than one global batch of 64; lower the batch or "
        "raise the split's limit");
}

TEST_CASE("next beyond an epoch's last step is a bug of the caller") {
  const auto set = random_bytes_set(8, kFedShape);
  const Pipeline pipeline = augmenting_pipeline();
  Feeder feeder(*set, pipeline, training(1));
  CHECK(test::holds(message_of(ErrorKind::bug, [&] { (void)feeder.next(); }), "before start()"));
  CHECK(rest_of_epoch(feeder, 0).size() == 2);
  CHECK(test::holds(message_of(ErrorKind::bug, [&] { (void)feeder.next(); }), "after the last"));
}

}  // namespace trainyard
