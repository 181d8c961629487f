// mixup and cutmix: draws, images and targets against scripts/make_mixing_goldens.py, and batches.
#include "data/augment/mixing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/philox.h"
#include "config/load.h"
#include "data/feed/batch_fields.h"
#include "data/feed/feeder.h"
#include "helpers.h"

namespace trainyard {
namespace {

using Values = std::vector<float>;

const Shape kMixedShape{2, 7, 10};

config::Node mixing_goldens() {
  return config::load_yaml(std::string(TY_SOURCE_DIR) + "/tests/data/goldens/mixing.yaml");
}

/// The script's image of a sample.
Values script_image(std::int64_t sample) {
  Values image;
  for (std::int64_t c = 0; c < 2; ++c)
    for (std::int64_t y = 0; y < 7; ++y)
      for (std::int64_t x = 0; x < 10; ++x) {
        const std::int64_t value = 17 * c + 5 * y + 11 * x + x * y * (c + 3) + 7 * sample;
        image.push_back(static_cast<float>(value * value % 251));
      }
  return image;
}

double of(const config::Node& row, const char* key) { return row.find(key)->real; }

void check_near(const Values& found, const config::Node& expected, double most) {
  REQUIRE(found.size() == expected.items.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(std::abs(static_cast<double>(found[i]) - expected.items[i].real) <= most);
  }
}

/// The largest distance of 20000 drawn numbers of Beta(a, a) from its distribution function.
double distance(double a, const std::function<double(double)>& below) {
  std::vector<double> drawn;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const Random4 random = random4(1, RandomStream::mix, 0, 0, i);
    drawn.push_back(symmetric_beta(a, (random.word[0] + 0.5) * 0x1p-32, random.word[1] * 0x1p-32));
  }
  std::ranges::sort(drawn);
  double most = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    most = std::max(most, std::abs(below(drawn[i]) - static_cast<double>(i) / 20000));
  }
  return most;
}

constexpr std::int64_t kFed = 67;
const Shape kFedImage{3, 6, 5};

Pipeline mixing_pipeline() {
  Pipeline pipeline(kFedImage, {}, {});
  pipeline.mix_with(MixOptions{.mixup = 0.8, .cutmix = 1});
  return pipeline;
}

FeederOptions mixed_training(std::int64_t batch) {
  return {.batch = batch, .seed = 5, .workers = 2, .fields = {kLabelField, kMixField}};
}

/// The samples of batches, one after another.
struct Fed {
  Values images, targets, weights;
  std::vector<std::int32_t> labels;
  bool operator==(const Fed&) const = default;

  void take(const Batch& batch) {
    images.insert(images.end(), batch.images.begin(), batch.images.end());
    const std::vector<std::int32_t> own = test::labels_of(batch);
    labels.insert(labels.end(), own.begin(), own.end());
    const auto append = [&](Values& to, std::size_t field) {
      const Values from = test::numbers_of(batch, field);
      to.insert(to.end(), from.begin(), from.end());
    };
    append(targets, 1);
    if (batch.fields.size() > 2) append(weights, 2);
  }
};

/// The first 64 positions of an epoch, by `ranks` of `shards` each.
Fed fed_by(const Dataset& set, std::int64_t ranks, std::int64_t shards, std::int64_t batch) {
  const Pipeline pipeline = mixing_pipeline();
  std::vector<std::unique_ptr<Feeder>> feeders;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    FeederOptions options = mixed_training(batch);
    options.rank = rank;
    options.ranks = ranks;
    options.shards = shards;
    options.weights = ClassWeightPolicy{.of_class = {1, 2, 0, 4, 0.5F, 1, 1, 1, 3, 1}};
    feeders.push_back(std::make_unique<Feeder>(set, pipeline, options));
    feeders.back()->start(2);
  }
  Fed fed;
  for (std::int64_t step = 0; step < 64 / (ranks * shards * batch); ++step) {
    for (const auto& feeder : feeders) {
      for (std::int64_t shard = 0; shard < shards; ++shard) fed.take(feeder->next());
    }
  }
  return fed;
}

/// Samples [3, 6, 5] of 10 classes.
std::unique_ptr<Dataset> mixed_set() { return test::random_bytes_set(kFed, kFedImage); }

}  // namespace

TEST_CASE("the share of a blended pair is the number that its words draw") {
  for (std::int64_t index = 0; index < 2000; ++index) {
    const Random4 random = random4(3, RandomStream::mix, 1, 0, static_cast<std::uint64_t>(index));
    const double share =
        symmetric_beta(0.4, (random.word[2] + 0.5) * 0x1p-32, (random.word[3] + 0.5) * 0x1p-32);
    const PairMix mix = mix_of_pair({.mixup = 0.4}, {3, 1, index}, kMixedShape);
    REQUIRE(mix.share == static_cast<float>(share));
  }
}

TEST_CASE("pairs are drawn and mixed as by the formulas of mixup and cutmix") {
  const config::Node all = mixing_goldens();
  CHECK(all.find("pairs")->items.size() == 25);
  for (const config::Node& row : all.find("pairs")->items) {
    CAPTURE(row.where.text());
    const std::int64_t pair = row.find("pair")->integer;
    const PairMix mix = mix_of_pair({.mixup = of(row, "mixup"),
                                     .cutmix = of(row, "cutmix"),
                                     .switched = of(row, "switch"),
                                     .probability = of(row, "probability")},
                                    {.seed = 5, .epoch = 3, .index = pair}, kMixedShape);
    const std::string& kind = row.find("kind")->text;
    CHECK((mix.kind == PairMix::Kind::blend) == (kind == "blend"));
    CHECK((mix.kind == PairMix::Kind::paste) == (kind == "paste"));
    CHECK(std::abs(static_cast<double>(mix.share) - of(row, "share")) <= 1e-7);
    for (std::size_t i = 0; i < 4; ++i) CHECK(mix.box[i] == row.find("box")->items[i].integer);
    Values first = script_image(2 * pair), second = script_image(2 * pair + 1);
    mix_samples(mix, kMixedShape, first.data(), second.data());
    // Blended in float: 255 * a few * 2^-24.
    const double most = mix.kind == PairMix::Kind::blend ? 1e-4 : 0;
    check_near(first, *row.find("first"), most);
    check_near(second, *row.find("second"), most);
  }
}

TEST_CASE("targets of a pair are both labels by share and weight, the larger part first") {
  const config::Node all = mixing_goldens();
  for (const config::Node& row : all.find("targets")->items) {
    CAPTURE(row.where.text());
    std::vector<std::int32_t> labels;
    Values weights;
    for (std::size_t i = 0; i < 2; ++i) {
      labels.push_back(static_cast<std::int32_t>(row.find("labels")->items[i].integer));
      weights.push_back(static_cast<float>(row.find("weights")->items[i].real));
    }
    std::vector<MixedTarget> targets(2);
    mix_pair({.share = static_cast<float>(of(row, "share"))}, kMixedShape, 0,
             {.labels = labels, .weights = weights, .targets = targets});
    for (std::size_t i = 0; i < 2; ++i) {
      const config::Node& sample = row.find("samples")->items[i];
      CHECK(weights[i] == doctest::Approx(of(sample, "weight")).epsilon(1e-7));
      CHECK(targets[i].share <= 0.5F);
      Values dense(4, 0.0F);
      dense[static_cast<std::size_t>(labels[i])] += 1 - targets[i].share;
      if (targets[i].label >= 0)
        dense[static_cast<std::size_t>(targets[i].label)] += targets[i].share;
      check_near(dense, *sample.find("target"), 1e-7);
    }
  }
}

TEST_CASE("a label of weight 0 is in no mixed target, and two are in none") {
  std::vector<std::int32_t> labels{-1, 3, -1, -1};
  Values weights{0, 2, 0, 0};
  std::vector<MixedTarget> targets(4);
  const MixedBatch batch{.labels = labels, .weights = weights, .targets = targets};
  for (std::int64_t pair = 0; pair < 2; ++pair) mix_pair({.share = 0.75F}, {1, 1, 1}, pair, batch);
  CHECK(labels == std::vector<std::int32_t>{3, 3, -1, -1});
  CHECK(weights == Values{0.5F, 1.5F, 0, 0});
  for (const MixedTarget& target : targets) {
    CHECK(target.label == -1);
    CHECK(target.share == 0);
  }
}

TEST_CASE("symmetric beta numbers have their distribution") {
  // Kolmogorov and Smirnov: more than 1.63 / sqrt(20000) once in a hundred samples.
  constexpr double kMost = 0.0115;
  CHECK(distance(1, [](double x) { return x; }) < kMost);
  CHECK(distance(2, [](double x) { return x * x * (3 - 2 * x); }) < kMost);
  CHECK(distance(0.5, [](double x) { return 2 / std::numbers::pi * std::asin(std::sqrt(x)); }) <
        kMost);
  CHECK(symmetric_beta(0.01, 1e-9, 0.1) == 1);
  CHECK(symmetric_beta(0.01, 1e-9, 0.4) == 0);
  CHECK(symmetric_beta(1000, 1 - 1e-16, 0.25) == doctest::Approx(0.5));
}

TEST_CASE("mixed batches are those of one rank for any ranks, shards and after a resume") {
  const auto set = mixed_set();
  const Fed whole = fed_by(*set, 1, 1, 8);
  CHECK(whole.labels.size() == 64);
  CHECK(fed_by(*set, 2, 1, 4) == whole);
  CHECK(fed_by(*set, 4, 1, 2) == whole);
  CHECK(fed_by(*set, 2, 2, 2) == whole);
  CHECK(fed_by(*set, 1, 4, 2) == whole);
  const Pipeline pipeline = mixing_pipeline();
  Feeder feeder(*set, pipeline, mixed_training(8));
  feeder.start(2, 5);
  Fed rest;
  for (int i = 0; i < 3; ++i) rest.take(feeder.next());
  CHECK(std::equal(rest.images.begin(), rest.images.end(), whole.images.begin() + 5 * 8 * 90));
}

TEST_CASE("evaluation mixes nothing, and pairs in two batches are refused") {
  const auto set = mixed_set();
  const Pipeline pipeline = mixing_pipeline();
  FeederOptions options = mixed_training(7);
  options.train = options.shuffle = false;
  const Pipeline bare(kFedImage, {}, {});
  Feeder mixing(*set, pipeline, options), plain(*set, bare, options);
  mixing.start(0);
  plain.start(0);
  for (std::int64_t i = 0; i < mixing.batches_per_epoch(); ++i) {
    Fed a, b;
    a.take(mixing.next());
    b.take(plain.next());
    CHECK(a == b);
    CHECK(a.targets == Values{-1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0, -1, 0});
  }
  CHECK(test::message_of(ErrorKind::config,
                         [&] { const Feeder odd(*set, pipeline, mixed_training(7)); }) ==
        "'mix' mixes pairs of samples, but each rank or shard has a batch of 7; make it even");
}

}  // namespace trainyard
