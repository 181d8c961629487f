#include "base/error.h"
#include "starter/starter.h"

namespace trainyard {
namespace {

constexpr std::string_view kImagesConfig = R"yaml(
# A run: what is trained, on which data, and how. Check it with 'train check @name@.yaml', see what
# the network gets with 'train browse @name@.yaml', and train with 'train @name@.yaml'.
# 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {@outputs@}}
data:
  # The middle of each image, resized to @size@x@size@; if you change that, change 'input' in the
  # network file too.
  train: {@source@, @size keys@, shuffle: true}
@split@
  preprocess: [mean_rgb: train, std_rgb: train] # mean 0 and deviation 1 for each colour
  # Random changes of the training images. Leave out the flip if left and right differ in meaning.
  augment: [hflip: 0.5, pad_crop: {pad: @crop@, fill: reflect}]
# Images for each step, on each GPU. A larger batch is faster on a GPU and needs more memory.
batch: {per_gpu: @batch@}
loss: @image loss@
@weights@metrics: @metrics@
# The learning rate matters most. To try several:
#   train sweep @name@.yaml --grid optimizer.sgd.lr=0.02,0.05,0.1 --jobs 2
optimizer: {sgd: {lr: 0.05, momentum: 0.9, weight_decay: @decay@}}
schedule: {one_cycle: {rise: 0.1}} # the learning rate rises for a tenth of the run, then falls to 0
epochs: @epochs@ # few images need many: this is about 1,500 steps, but 10 to 200 epochs
# The best checkpoint is kept, and the two newest ones.
checkpoint: {every: 1 epoch, keep: 2, best: @best@}
)yaml";

constexpr std::string_view kImagesNetwork = R"yaml(
# A small convolutional network. 'train summary @name@.yaml' lists its layers and sizes.
vars: {@outputs@, width: @width@} # 'width' doubled: four times the arithmetic
input: [@channels@, @size@, @size@] # channels, height, width
defaults:
  conv: {pad: same_upper, bias: false, init: he_normal}
  bn: {momentum: 0.9} # running means of the last ten steps or so: right for short runs
blocks:
  # A convolution of 3x3 with f filters, batch norm and ReLU; s: its step, which divides the size.
  cbr: {args: [f, s=1], layers: [conv: {filters: $f, kernel: 3, stride: $s}, bn, relu]}
layers:
@layers@  - global_avg_pool
  - dropout: 0.2
  - dense: $@output count@
@closing@)yaml";

constexpr std::string_view kFineTuningConfig = R"yaml(
# A run that fine-tunes a @net@. Check it with 'train check @name@.yaml', see what the network gets
# with 'train browse @name@.yaml', and train with 'train @name@.yaml'. 'train schema --reference'
# lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {@outputs@}}
init: {from: @weights file@, skip: [dense1]} # the last layer is new
data:
  # The middle of each image, resized to 256x256, of which validation takes the middle 224x224.
  train: {@source@, @size keys@, shuffle: true}
@split@
  # ImageNet's means and deviations, with which the weights were trained.
  preprocess: [mean_rgb: [123.675, 116.28, 103.53], std_rgb: [58.395, 57.12, 57.375]]
  # Random parts of the training images. Leave out the flip if left and right differ in meaning.
  augment: [random_resized_crop: {size: 224, scale: [0.25, 1]}, hflip: 0.5]
# Images for each step, on each GPU. A larger batch is faster on a GPU and needs more memory.
batch: {per_gpu: @batch@}
loss: @image loss@
@weights@metrics: @metrics@
# A tenth of the learning rate of random weights, or less. To try several:
#   train sweep @name@.yaml --grid optimizer.sgd.lr=1e-3,2e-3,5e-3 --jobs 2
optimizer: {sgd: {lr: 2e-3, momentum: 0.9, weight_decay: 1e-4}}
lr_mult: {dense1: 10} # the new layer learns faster than the others
# Layers that stay as they are. Few images, or images as ImageNet's: up to [conv1, bn1, "layer*"].
# freeze: [conv1, bn1, layer1]
# Batch norm keeps the means and variances of the weights, which those of a small batch are far from.
freeze_statistics: ["*"]
schedule: {one_cycle: {rise: 0.1}} # the learning rate rises for a tenth of the run, then falls to 0
epochs: @epochs@ # about 600 steps, 5 to 50 epochs
# The best checkpoint is kept, and the two newest ones.
checkpoint: {every: 1 epoch, keep: 2, best: @best@}
)yaml";

constexpr std::string_view kFineTuningNetwork = R"yaml(
# @net@ (He et al. 2015, arXiv 1512.03385) as in torchvision and timm, with a last layer of its own.
# 'train summary @name@.yaml' lists its layers and sizes.
profile: torch
vars: {@outputs@, units: [@units@]}
input: [3, 224, 224] # channels, height, width
defaults: {conv: {pad: same_symmetric, bias: false}}
blocks:
  # Convolutions whose result is added to their input; project: a convolution makes that as large.
  unit:
    args: [f, s=1, project=false]
    layers:
      - add:
          - [@convolutions@]
          - [{conv: {filters: @filters@, kernel: 1, stride: $s}, if: $project}, {bn: , if: $project}]
      - relu
  layer:
    args: [f, n, s=2, project=true]
    layers:
      - unit: [$f, $s, $project]
      - repeat: {times: $n - 1, layers: [unit: $f]}
layers:
  - conv: {filters: 64, kernel: 7, stride: 2}
  - bn
  - relu
  - max_pool: {size: 3, stride: 2, pad: 1}
  - layer: {f: 64, n: "$units[0]", s: 1, project: @projects@}
  - layer: {f: 128, n: "$units[1]"}
  - layer: {f: 256, n: "$units[2]"}
  - layer: {f: 512, n: "$units[3]"}
  - global_avg_pool
  - dense: $@output count@
@closing@)yaml";

constexpr std::string_view kTableConfig = R"yaml(
# A run: what is trained, on which data, and how. Check it with 'train check @name@.yaml', and train
# with 'train @name@.yaml'. 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {features: @features@, @outputs@}}
data:
  # @what is learned@
  # Columns that are not named here are numbers, which get mean 0 and deviation 1; each category is a
  # feature of its own. If you change the columns, 'train check' says how many 'features' there are.
  train: {@source@}
  val_fraction: 0.2 # of the rows is kept for validation, chosen by the seed
seed: 42
batch: {per_gpu: @batch@} # rows for each step, on each GPU
loss: @loss@
metrics: @metrics@
optimizer: {adamw: {lr: 2e-3, weight_decay: 1e-2}}
schedule: {one_cycle: {rise: 0.1}} # the learning rate rises for a tenth of the run, then falls to 0
epochs: @epochs@ # about 2,000 steps, 5 to 100 epochs
# The checkpoint of the epoch with the lowest loss is kept, and the two newest ones.
checkpoint: {every: 1 epoch, keep: 2, best: {metric: val_loss, mode: min}}
)yaml";

constexpr std::string_view kTableNetwork = R"yaml(
# Two hidden layers. 'train summary @name@.yaml' lists the layers and sizes.
vars: {features: @features@, @outputs@, units: 64}
input: [$features]
layers:
  - dense: $units
  - relu
  - dropout: 0.1
  - dense: $units
  - relu
  - dense: $@output count@
@closing@)yaml";

constexpr std::string_view kTextsConfig = R"yaml(
# A run: what is trained, on which data, and how. Check it with 'train check @name@.yaml', and train
# with 'train @name@.yaml'. 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {tokens: @window@, vocabulary: @vocabulary@, @outputs@}}
data:
  # @what is learned@
  # The last 'length' words of each text are read; of the training texts' words the 'vocabulary' most
  # frequent are known. Both are also in 'vars' above.
  train: {@source@}
  val_fraction: 0.2 # of the texts is kept for validation, chosen by the seed
seed: 42
batch: {per_gpu: @batch@} # texts for each step, on each GPU
loss: @loss@
metrics: @metrics@
optimizer: {adam: {lr: 1e-3}}
epochs: @epochs@ # about 2,000 steps, 5 to 100 epochs
early_stop: {patience: 5} # it overfits soon: five epochs without a better one end the run
# The best checkpoint is kept, and the two newest ones.
checkpoint: {every: 1 epoch, keep: 2, best: @best@}
)yaml";

constexpr std::string_view kTextsNetwork = R"yaml(
# Words as vectors, an LSTM that reads them in both directions, and what is learned from them.
vars: {tokens: @window@, vocabulary: @vocabulary@, @outputs@}
input: {tokens: $tokens, vocabulary: $vocabulary}
layers:
  - embedding: 64 # token 0 fills up short texts; with 'mask_zero: true' the LSTM skips it
  - lstm: {units: 32, bidirectional: concat}
  - dropout: 0.3
  - dense: $@output count@
@closing@)yaml";

constexpr std::string_view kTextConfig = R"yaml(
# A run that learns to continue a text, character by character. Train with 'train @name@.yaml', then
# 'train generate runs/@name@/0001 --prompt "The "' writes text. 'train schema --reference' lists
# every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {tokens: @window@, vocabulary: @characters@}}
data:
  # Windows of @window@ characters, one after another; what comes next is predicted at each place of them.
  # 'vocabulary' is the number of different characters of the text.
  train: {source: text, file: @path@, vocabulary: @characters@, length: @window@, stride: @window@, predict: every}
  val_fraction: 0.1 # the end of the text
batch: {per_gpu: @batch@} # windows for each step, on each GPU
loss: cross_entropy
metrics: [accuracy, bits_per_character]
optimizer: {adam: {lr: 2e-3}}
epochs: @epochs@ # about 1,500 steps, 5 to 60 epochs
# The checkpoint of the epoch that predicts best is kept, and the two newest ones.
checkpoint: {every: 1 epoch, keep: 2, best: {metric: val_loss, mode: min}}
output: {generate: {}} # a sample of text after each epoch, in the run's folder
)yaml";

constexpr std::string_view kTextNetwork = R"yaml(
# One LSTM layer, which reads the characters before each place. 'units' doubled: about four times
# the arithmetic.
vars: {tokens: @window@, vocabulary: @characters@, units: 128}
input: {tokens: $tokens, vocabulary: $vocabulary}
layers:
  - embedding: 64
  - lstm: {units: $units, return_sequences: true}
  - dense: {units: $vocabulary, per_position: true}
  - softmax
)yaml";

constexpr std::string_view kCifar10Config = R"yaml(
# CIFAR-10: 50,000 training images of 32x32 in 10 classes. Get it with 'train data get cifar10',
# which puts it into $TRAINYARD_DATA, or data/ if that is not set. Train with 'train @name@.yaml'.
# 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {@outputs@}}
data:
  train: {source: cifar10, split: train, shuffle: true}
  val: {source: cifar10, split: test}
  preprocess: [mean_rgb: train, std_rgb: train] # mean 0 and deviation 1 for each colour
  augment: [hflip: 0.5, pad_crop: 4] # random changes of the training images
batch: {per_gpu: 128} # images for each step, on each GPU
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9, weight_decay: 5e-4}}
schedule: {one_cycle: {rise: 0.1}} # the learning rate rises for a tenth of the run, then falls to 0
epochs: 10
checkpoint: {every: 1 epoch, keep: 2, best: {metric: val_accuracy, mode: max}}
)yaml";

constexpr std::string_view kMnistConfig = R"yaml(
# @name@: 60,000 training images of 28x28 in 10 classes, grey. Get it with 'train data get @name@',
# which puts it into $TRAINYARD_DATA, or data/ if that is not set. Train with 'train @name@.yaml'.
# 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml}
data:
  train: {source: @name@, split: train, shuffle: true}
  val: {source: @name@, split: test}
  preprocess: [scale: $1/255] # values from 0 to 1
  augment: [pad_crop: 2] # random shifts by up to 2 pixels
batch: {per_gpu: 128} # images for each step, on each GPU
loss: cross_entropy
metrics: [accuracy]
optimizer: {sgd: {lr: 0.05, momentum: 0.9, weight_decay: 5e-4}}
schedule: {one_cycle: {rise: 0.1}} # the learning rate rises for a tenth of the run, then falls to 0
epochs: 5
checkpoint: {every: 1 epoch, keep: 2, best: {metric: val_accuracy, mode: max}}
)yaml";

constexpr std::string_view kMnistNetwork = R"yaml(
# A small convolutional network. 'train summary @name@.yaml' lists its layers and sizes.
vars: {classes: 10, width: 16} # 'width' doubled: four times the arithmetic
input: [1, 28, 28] # channels, height, width
defaults:
  conv: {pad: same_upper, bias: false, init: he_normal}
blocks:
  # A convolution of 3x3 with f filters, batch norm and ReLU.
  cbr: {args: [f], layers: [conv: {filters: $f, kernel: 3}, bn, relu]}
layers:
  - cbr: $width
  - max_pool: 2
  - cbr: $2 * width
  - max_pool: 2
  - cbr: $4 * width
  - dropout: 0.25
  - max_pool: 7
  - dense: $classes
  - softmax
)yaml";

constexpr std::string_view kImdbConfig = R"yaml(
# IMDB: is a film review positive? 25,000 training reviews, of which the last 80 words are read. Get
# them with 'train data get imdb', which puts them into $TRAINYARD_DATA, or data/ if that is not set.
# Train with 'train @name@.yaml'. 'train schema --reference' lists every key.
name: @name text@
network: {file: @name@_network.yaml, vars: {tokens: 80, vocabulary: 20000}}
data:
  train: {source: imdb, split: train, vocabulary: 20000, length: 80}
  val: {source: imdb, split: test, vocabulary: 20000, length: 80}
batch: {per_gpu: 32} # reviews for each step, on each GPU
loss: binary_cross_entropy
metrics: [accuracy]
optimizer: {adam: {lr: 1e-3}}
epochs: 10
early_stop: {patience: 3} # it overfits soon: three epochs without a better one end the run
checkpoint: {every: 1 epoch, keep: 2, best: {metric: val_accuracy, mode: max}}
)yaml";

constexpr std::string_view kImdbNetwork = R"yaml(
# Words as vectors, an LSTM that reads them in order, and the probability that the review is positive.
vars: {tokens: 80, vocabulary: 20000}
input: {tokens: $tokens, vocabulary: $vocabulary}
layers:
  - embedding: 64
  - lstm: {units: 64, dropout: 0.2}
  - dense: 1
  - sigmoid
)yaml";

}  // namespace

StarterTexts fine_tuning_texts() { return {kFineTuningConfig, kFineTuningNetwork}; }

StarterTexts starter_texts(StarterKind kind) {
  switch (kind) {
    case StarterKind::images:
      return {kImagesConfig, kImagesNetwork};
    case StarterKind::table:
      return {kTableConfig, kTableNetwork};
    case StarterKind::texts:
      return {kTextsConfig, kTextsNetwork};
    case StarterKind::text:
      return {kTextConfig, kTextNetwork};
    case StarterKind::cifar10:
      return {kCifar10Config, kImagesNetwork};
    case StarterKind::mnist:
    case StarterKind::fashion_mnist:
      return {kMnistConfig, kMnistNetwork};
    case StarterKind::imdb:
      return {kImdbConfig, kImdbNetwork};
  }
  check_failed("kind", "a kind of starter", std::source_location::current());
}

}  // namespace trainyard
