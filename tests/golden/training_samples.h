// The goldens of training, and the batches of their networks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/philox.h"
#include "data/feed/batch_fields.h"
#include "data/feed/feeder.h"
#include "ops/loss.h"

namespace trainyard::test {

/// [-1, 1) on a grid of 2^-23, the same values as in the script.
[[nodiscard]] inline double noise(std::uint32_t key, std::uint64_t index) {
  const Random4 draw = philox(key, 0, static_cast<std::uint32_t>(index), 0, 0, 0);
  return (draw.word[0] >> 8) * 0x1p-23 - 1;
}

/// PyTorch's losses, and float32's spread around them if float32 is compared.
struct Losses {
  std::int64_t batch = 0;
  std::vector<std::vector<double>> of_sets;  // [set of images][step]
  std::vector<std::vector<double>> spread;   // [set of images][step]
};

struct Golden {
  std::string name;
  std::string file;       // file of the network
  std::string overrides;  // what is merged into it
  double rate = 0;
  Losses in_double;
  Losses in_float;
  std::vector<LossAttributes> heads = {};  // losses besides that of the last layer
  std::vector<float> class_weights = {};   // empty: none
  std::int64_t tokens = 0;                 // tokens of a sample, with a label each; 0: images
  bool lengths = false;                    // samples have lengths, from 1 to 32
  std::int64_t classes = 10;               // and the vocabulary of tokens
  double smoothing = 0;                    // smoothing of the last layer's loss
  bool fixed_statistics = false;           // batch norms have fixed statistics
  bool mixed = false;  // in pairs, by turns blended and with a box of each other
  std::string optimizer = "{sgd: {lr: $rate, momentum: 0.9}}";  // `rate` is a name in it
  std::string parameters = "{}";                                // of a run, with their optimizers
  std::string lookahead = {};                                   // its keys; "": none
};

/// The batches of a golden: images or tokens, with their labels.
class Samples {
 public:
  Samples(const Golden& golden, std::size_t set, std::int64_t batch)
      : batch_(batch),
        classes_(golden.classes),
        class_weights_(golden.class_weights),
        image_key_(key_of(golden.name + ".images" + std::to_string(set))),
        token_key_(key_of(golden.name + ".tokens" + std::to_string(set))),
        label_key_(key_of(golden.name + ".labels" + std::to_string(set))),
        length_key_(key_of(golden.name + ".lengths" + std::to_string(set))),
        share_key_(key_of(golden.name + ".shares" + std::to_string(set))),
        images_(static_cast<std::size_t>(golden.tokens > 0 ? 0 : batch * 3 * 32 * 32)),
        targets_(static_cast<std::size_t>(golden.mixed ? batch : 0)),
        tokens_(static_cast<std::size_t>(batch * golden.tokens)),
        lengths_(static_cast<std::size_t>(golden.lengths ? batch : 0)),
        labels_(golden.tokens > 0 ? tokens_.size() : static_cast<std::size_t>(batch)),
        index_(static_cast<std::size_t>(batch)) {}

  Batch step(std::int64_t step) {
    const std::uint64_t first = static_cast<std::uint64_t>(step) * images_.size();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      images_[i] = static_cast<float>(noise(image_key_, first + i));
    }
    draw(tokens_, token_key_, classes_, step);
    draw(labels_, label_key_, classes_, step);
    draw(lengths_, length_key_, kImageSteps, step);
    std::iota(index_.begin(), index_.end(), step * batch_);
    Batch batch{.images = images_,
                .fields = {std::as_bytes(std::span(labels_))},
                .sample_index = index_,
                .valid = batch_};
    if (!tokens_.empty()) {
      batch.fields.insert(batch.fields.begin(), std::as_bytes(std::span(tokens_)));
    }
    if (!lengths_.empty()) {
      make_mask();
      batch.fields.insert(batch.fields.begin(), std::as_bytes(std::span(mask_)));
    }
    if (!targets_.empty()) {
      mix(step);
      batch.fields.push_back(std::as_bytes(std::span(targets_)));
    }
    if (class_weights_.empty()) return batch;
    weights_.clear();
    for (const std::int32_t label : labels_) {
      weights_.push_back(class_weights_[static_cast<std::size_t>(label)]);
    }
    batch.fields.push_back(std::as_bytes(std::span(weights_)));
    return batch;
  }

 private:
  static constexpr std::int64_t kImageSteps = 32;

  void mix(std::int64_t step) {
    const MixedBatch parts{.images = images_, .labels = labels_, .targets = targets_};
    const std::int64_t pairs = batch_ / 2;
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
      const auto counter = static_cast<std::uint32_t>(step * pairs + pair);
      PairMix mix{.kind = PairMix::Kind::blend,
                  .share = uniform01(philox(share_key_, 0, counter, 0, 0, 0).word[0])};
      if (pair % 2 == 1) {
        mix = {.kind = PairMix::Kind::paste, .share = 0.625, .box = {4, 20, 8, 32}};
      }
      mix_pair(mix, {3, 32, 32}, pair, parts);
    }
  }
  void make_mask() {
    mask_.assign(lengths_.size() * kImageSteps, 0);
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      std::fill_n(mask_.begin() + static_cast<std::ptrdiff_t>(i) * kImageSteps, 1 + lengths_[i], 1);
    }
  }
  static void draw(std::vector<std::int32_t>& out, std::uint32_t key, std::int64_t below,
                   std::int64_t step) {
    auto counter = static_cast<std::uint32_t>(step) * static_cast<std::uint32_t>(out.size());
    for (std::int32_t& number : out) {
      const std::uint32_t word = philox(key, 0, counter++, 0, 0, 0).word[0];
      number = static_cast<std::int32_t>(word % static_cast<std::uint32_t>(below));
    }
  }

  std::int64_t batch_, classes_;
  std::vector<float> class_weights_, weights_;
  std::uint32_t image_key_, token_key_, label_key_, length_key_, share_key_;
  std::vector<float> images_;
  std::vector<MixedTarget> targets_;
  std::vector<std::int32_t> tokens_, lengths_, labels_, mask_;
  std::vector<std::int64_t> index_;
};

}  // namespace trainyard::test
