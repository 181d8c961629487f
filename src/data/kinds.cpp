// The sources, augmentations and preprocessing steps that the data section of a run file can name.
#include <array>

#include "data/augment/augmentations.h"
#include "data/augment/pipeline.h"
#include "data/augment/preprocess.h"
#include "data/sets/arrays.h"
#include "data/sets/cifar.h"
#include "data/sets/idx.h"
#include "data/sets/image_list.h"
#include "data/sets/pack.h"
#include "data/sets/synthetic.h"
#include "data/sets/table.h"
#include "data/sets/tensors.h"
#include "data/text/imdb.h"
#include "data/text/synthetic_sequences.h"
#include "data/text/text_windows.h"
#include "data/text/texts.h"

namespace trainyard {

std::span<const config::Kind<DatasetSource>> dataset_kinds() {
  static constexpr config::Kind<DatasetSource> kKinds[] = {
      {"cifar10", "CIFAR-10 in its binary layout", read_source<OptionsSource<open_cifar10>>},
      {"cifar100", "CIFAR-100 in its binary layout", read_source<OptionsSource<open_cifar100>>},
      {"mnist", "MNIST's four files, plain or .gz", read_mnist},
      {"fashion_mnist", "Fashion-MNIST's four files, plain or .gz", read_fashion_mnist},
      {"idx", "images and labels in IDX files, plain or .gz", read_idx},
      {"image_folder", "one folder of JPEG, PNG, WebP, GIF or BMP images per class",
       read_source<OptionsSource<open_image_folder>>},
      {"image_list", "JPEG, PNG, WebP, GIF or BMP images that a text file lists",
       read_source<RowsSource<open_image_list>>},
      {"table", "rows of numbers and categories from a CSV or TSV file",
       read_source<RowsSource<open_table>>},
      {"pack", "images that 'train data pack' has decoded", read_source<OptionsSource<open_pack>>},
      {"tensors", "images and labels from a safetensors file",
       read_source<OptionsSource<open_tensors>>},
      {"text", "windows of a text, to predict what comes next", read_text_source},
      {"texts", "texts with classes from a CSV or TSV file", read_source<RowsSource<open_texts>>},
      {"imdb", "the IMDB reviews as Keras has them", read_source<OptionsSource<open_imdb>>},
      {"arrays", "sequences from numpy's .npy or .npz files",
       read_source<OptionsSource<open_arrays>>},
      {"synthetic", "samples drawn from random numbers",
       read_source<OptionsSource<open_synthetic>>},
      {"synthetic_sequences", "sequences drawn from random numbers",
       read_source<OptionsSource<open_synthetic_sequences>>},
  };
  return kKinds;
}

namespace {

/// With the keys that every augmentation has.
template <class Listed>
std::unique_ptr<Augmentation> read_timed(config::Fields& fields) {
  std::unique_ptr<Augmentation> augmentation = Listed::read(fields);
  fields.field("from", augmentation->from, "finished epochs after which it begins", {.minimum = 0});
  fields.field("until", augmentation->until, "finished epochs after which it ends; 0: never",
               {.minimum = 0});
  if (augmentation->until > 0 && augmentation->until <= augmentation->from) {
    fields.error("until", "'until' must be after 'from'");
  }
  return augmentation;
}

template <class... Listed>
constexpr auto kinds_of(std::tuple<Listed...>* /*list*/) {
  return std::array{
      config::Kind<Augmentation>{Listed::kName, Listed::kHelp, read_timed<Listed>}...};
}

}  // namespace

std::span<const config::Kind<Augmentation>> augmentation_kinds() {
  static constexpr auto kKinds = kinds_of(static_cast<Augmentations*>(nullptr));
  return kKinds;
}

std::span<const config::Kind<Preprocess>> preprocess_kinds() {
  static constexpr config::Kind<Preprocess> kKinds[] = {
      {"scale", "multiplies every value by a factor", read_scale},
      {"mean_image", "subtracts the training split's mean image", read_mean_image},
      {"mean_rgb", "subtracts a mean from each channel", read_mean_rgb},
      {"std_rgb", "divides each channel by a standard deviation", read_std_rgb},
      {"samplewise_center", "subtracts each sample's own mean", read_samplewise_center},
      {"samplewise_std", "divides each sample by its own standard deviation", read_samplewise_std},
      {"zca", "whitens by the training split's second moment; the last step", read_zca},
  };
  return kKinds;
}

}  // namespace trainyard
