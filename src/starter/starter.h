// `train init`: a commented config and a network to begin with, and weights to fine-tune.
//
// The folder starter looks at data that exist and writes files that train on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/atomic_file.h"
#include "base/filesystem.h"
#include "starter/pretrained.h"
#include "starter/starter_data.h"

namespace trainyard {

/// The files of a starter: NAME.yaml, which names NAME_network.yaml and NAME_weights.safetensors.
struct StarterFiles {
  fs::path config;
  fs::path network;
  fs::path weights;  // empty: none
};

/// Writes them into `folder`, which is created, with paths that are relative to it. With `weights`,
/// which are for images alone, the run fine-tunes them. Throws Error{command_line} if one of the
/// files exists, and Error{disk}.
StarterFiles write_starter(const StarterData& data, const Pretrained* weights,
                           const fs::path& folder, const Disk& disk);

// The texts of the starter files, which are in the folder files, with @WORDS@ to be filled in.

struct StarterTexts {
  std::string_view config;
  std::string_view network;
};

/// The words are those of words_for() in starter.cpp.
[[nodiscard]] StarterTexts starter_texts(StarterKind kind);
/// Texts for images whose run fine-tunes a KnownResNet.
[[nodiscard]] StarterTexts fine_tuning_texts();

/// The numbers of a starter: what its data leave to choose.
struct Recipe {
  std::int64_t batch = 1;   // samples of each step
  std::int64_t epochs = 1;  // passes over the training split
  std::string weight_decay;
};

/// For images: an epoch has several steps, and the run about 1,500, which a network from random
/// weights needs however few images there are; 10 to 200 epochs. What weight decay does in a run
/// is the sum of lr * weight_decay over its steps: a short one takes ten times the usual.
[[nodiscard]] Recipe image_recipe(std::int64_t training_samples);
/// For images and a network that is trained already: about 600 steps, 5 to 50 epochs.
[[nodiscard]] Recipe fine_tuning_recipe(std::int64_t training_samples);
/// For rows: about 2,000 steps, 5 to 100 epochs.
[[nodiscard]] Recipe rows_recipe(std::int64_t training_samples);
/// For a text of so many characters, in windows of `length`: about 1,500 steps of 16 windows, 5 to
/// 60 epochs.
[[nodiscard]] Recipe text_recipe(std::int64_t characters, std::int64_t length);

/// Pixels of a side that images are resized to, given that of the median image: 28, 32, 64, 128
/// or 224, the largest one that enlarges no more than half of them.
[[nodiscard]] std::int64_t input_side(std::int64_t median_side);

/// The layers of a network for images of input_side(), up to its mean over a map of 7 or 8
/// pixels a side, as lines of YAML.
[[nodiscard]] std::string image_layers(std::int64_t size);

}  // namespace trainyard
