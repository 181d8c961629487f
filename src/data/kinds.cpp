// The sources, augmentations and preprocessing steps that the data section of a run file can name.
#include "data/augment/colour_jitter.h"
#include "data/augment/colours.h"
#include "data/augment/erasing.h"
#include "data/augment/fixed_size.h"
#include "data/augment/flip.h"
#include "data/augment/keras_warps.h"
#include "data/augment/pad_crop.h"
#include "data/augment/pipeline.h"
#include "data/augment/preprocess.h"
#include "data/augment/random_resized_crop.h"
#include "data/augment/shift.h"
#include "data/sets/arrays.h"
#include "data/sets/cifar.h"
#include "data/sets/idx.h"
#include "data/sets/image_folder.h"
#include "data/sets/image_list.h"
#include "data/sets/pack.h"
#include "data/sets/synthetic.h"
#include "data/sets/tensors.h"
#include "data/text/imdb.h"
#include "data/text/synthetic_sequences.h"
#include "data/text/text_windows.h"

namespace trainyard {

std::span<const config::Kind<DatasetSource>> dataset_kinds() {
  static constexpr config::Kind<DatasetSource> kKinds[] = {
      {"cifar10", "CIFAR-10 in its binary layout", read_cifar10},
      {"cifar100", "CIFAR-100 in its binary layout", read_cifar100},
      {"mnist", "MNIST's four files, plain or .gz", read_mnist},
      {"fashion_mnist", "Fashion-MNIST's four files, plain or .gz", read_fashion_mnist},
      {"idx", "images and labels in IDX files, plain or .gz", read_idx},
      {"image_folder", "one folder of JPEG, PNG, WebP, GIF or BMP pictures per class",
       read_image_folder},
      {"image_list", "JPEG, PNG, WebP, GIF or BMP pictures that a text file lists",
       read_image_list},
      {"pack", "pictures that 'train data pack' has decoded", read_pack},
      {"tensors", "images and labels from a safetensors file", read_tensors},
      {"text", "windows of a text, to predict what comes next", read_text_source},
      {"imdb", "the IMDB reviews as Keras has them", read_imdb},
      {"arrays", "sequences from numpy's .npy or .npz files", read_arrays},
      {"synthetic", "samples drawn from random numbers", read_synthetic},
      {"synthetic_sequences", "sequences drawn from random numbers", read_synthetic_sequences},
  };
  return kKinds;
}

std::span<const config::Kind<Augmentation>> augmentation_kinds() {
  static constexpr config::Kind<Augmentation> kKinds[] = {
      {"resize", "stretches to a size, or to a shorter side", read_resize},
      {"random_resized_crop", "a random part, stretched to a size, as torchvision has it",
       read_random_resized_crop},
      {"center_crop", "the centre of the image", read_center_crop},
      {"rotate", "random rotation", read_rotate},
      {"shift", "random shift along both axes", read_shift},
      {"shear", "random shear", read_shear},
      {"zoom", "random zoom of each axis", read_zoom},
      {"hflip", "mirrors left and right with a probability", read_hflip},
      {"vflip", "mirrors top and bottom with a probability", read_vflip},
      {"pad_crop", "random crop of the padded image; the centre in evaluation", read_pad_crop},
      {"channel_shift", "adds a random amount to each channel", read_channel_shift},
      {"brightness", "random brightness, as Keras has it", read_brightness},
      {"hls_jitter", "random offsets of hue, lightness and saturation, as MXNet has them",
       read_hls_jitter},
      {"colour_jitter", "random brightness, contrast, saturation and hue, as torchvision has them",
       read_colour_jitter},
      {"cutout", "erases a random square", read_cutout},
      {"random_erasing", "erases a random window with a probability", read_random_erasing},
  };
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
