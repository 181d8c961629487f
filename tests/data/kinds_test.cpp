#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "config/load.h"
#include "config/schema.h"
#include "data/augment/image_loops.h"
#include "data/augment/pipeline.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

/// The part of a `data:` section that the run reads.
struct DataSection {
  std::unique_ptr<DatasetSource> source;
  std::vector<std::shared_ptr<const Augmentation>> augment;
  std::vector<std::shared_ptr<const Preprocess>> preprocess;
};

void declare(config::Fields& fields, DataSection& section) {
  fields.list_of("augment", section.augment, "augmentations", augmentation_kinds());
  fields.list_of("preprocess", section.preprocess, "preprocessing", preprocess_kinds());
  fields.select("source", section.source, "source", dataset_kinds());
}

DataSection read(const std::string& yaml, const std::string& name = "run.yaml") {
  const config::Node node = config::parse_yaml(yaml, name);
  config::Diagnostics diagnostics;
  config::Fields fields(node, nullptr, "data", config::Profile::keras2, diagnostics);
  DataSection section;
  declare(fields, section);
  fields.finish();
  diagnostics.raise();
  return section;
}

std::string config_message(const std::string& yaml) {
  return message_of(ErrorKind::config, [&] { (void)read(yaml); });
}

const std::string kSource = "source: synthetic\n";

}  // namespace

TEST_CASE("a source is read with its keys and opens") {
  const DataSection section = read(
      "source: synthetic\nshape: [1, 4, 6]\nclasses: 3\nsize: 20\nlearnable: true\nlimit: 9\n");
  REQUIRE(section.source != nullptr);
  CHECK(section.source->name() == "synthetic");
  const auto set = section.source->open({.seed = 1});
  CHECK(set->size() == 9);
  CHECK(set->image_shape() == Shape{1, 4, 6});
  CHECK(set->classes() == 3);
}

TEST_CASE("every source can be read from its name and keys") {
  CHECK(read("{source: cifar10, root: data, split: test}").source->name() == "cifar10");
  CHECK(read("{source: cifar100, labels: coarse}").source->name() == "cifar100");
  CHECK(read("{source: mnist}").source->name() == "mnist");
  CHECK(read("{source: fashion_mnist, split: test}").source->name() == "fashion_mnist");
  CHECK(read("{source: idx, root: x}").source->name() == "idx");
  CHECK(read("{source: image_folder, root: x}").source->name() == "image_folder");
  CHECK(read("{source: image_list, file: x}").source->name() == "image_list");
  CHECK(read("{source: table, file: x, columns: {label: y}}").source->name() == "table");
  CHECK(read("{source: pack, file: x}").source->name() == "pack");
  CHECK(read("{source: tensors, file: x}").source->name() == "tensors");
  CHECK(read("{source: text, file: x}").source->name() == "text");
  CHECK(read("{source: texts, file: x, columns: {text: t, label: y}}").source->name() == "texts");
  CHECK(read("{source: imdb, length: 40}").source->name() == "imdb");
  CHECK(read("{source: arrays, file: x}").source->name() == "arrays");
  CHECK(read("{source: synthetic_sequences, features: 6}").source->name() == "synthetic_sequences");
}

TEST_CASE("the list of sources names each one once") {
  std::vector<std::string_view> names;
  for (const auto& kind : dataset_kinds()) names.push_back(kind.name);
  CHECK(names == std::vector<std::string_view>{"cifar10", "cifar100", "mnist", "fashion_mnist",
                                               "idx", "image_folder", "image_list", "table", "pack",
                                               "tensors", "text", "texts", "imdb", "arrays",
                                               "synthetic", "synthetic_sequences"});
}

TEST_CASE("a flip without a probability mirrors half of the samples") {
  const DataSection section = read("augment: [hflip]\n" + kSource);
  const std::vector<float> image{1, 2};
  std::vector<float> out(2);
  int mirrored = 0;
  for (int i = 0; i < 2000; ++i) {
    const SpatialTransform step =
        section.augment[0]->step({.seed = 1, .index = i}, 0, Shape{1, 1, 2});
    run_step(step, 1, image.data(), out.data());
    mirrored += out[0] == 2;
  }
  CHECK(std::abs(mirrored - 1000) < 112);  // five deviations of 22.4
}

TEST_CASE("zca adds 1e-6 to eigenvalues unless the file says otherwise") {
  CHECK(read("preprocess: [zca]\n" + kSource).preprocess[0]->whitens() == 1e-6);
}

TEST_CASE("a range is one number around 1, or two numbers in order") {
  const auto augment = [](const std::string& zoom) {
    return config_message("augment: [zoom: " + zoom + "]\n" + kSource);
  };
  CHECK(augment("0.2") == "no error");
  CHECK(augment("[0.5, 0.5]") == "no error");
  CHECK(holds(augment("wide"), "run.yaml:1:"));
  CHECK(holds(augment("wide"), "expected a number r for [1 - r, 1 + r], or [low, high], found"));
  CHECK(holds(augment("[1.2, 0.8]"), "expected 0.01 <= low <= high, found [1.2, 0.8]"));
  CHECK(holds(augment("1.5"), "expected 0.01 <= low <= high, found [-0.5, 2.5]"));
  for (const std::string resize : {"resize", "resize: []", "resize: [1, 2, 3]"}) {
    CAPTURE(resize);
    CHECK(holds(config_message("augment: [" + resize + "]\n" + kSource),
                "'resize' needs a 'size': the length of the shorter side, or [h, w]"));
  }
}

TEST_CASE("a source looks next to the config file") {
  const test::TemporaryFolder folder;
  folder.write("set/test_batch.bin", test::cifar_record(3, 1));
  const DataSection section =
      read("{source: cifar10, root: set, split: test}", folder.text() + "/run.yaml");
  CHECK(section.source->open({.seed = 1})->label(0) == 3);
}

TEST_CASE("augmentations and preprocessing are read in order from their short forms") {
  const DataSection section =
      read(kSource +
           "augment: [shift: {x: 0.1, y: 2, fill: reflect}, hflip: 0.25, "
           "vflip, pad_crop: 4, resize: [40, 30], rotate: 20, shear: 10, zoom: 0.2, hflip, zoom: "
           "{range: [0.8, 1.2], fill: mirror}, center_crop: 28, "
           "channel_shift: 20, brightness: [0.5, 1.5], hls_jitter: {h: 36, l: 50, s: 50}, "
           "colour_jitter: [0.4, 0.4, 0.4, 0.1], cutout: 16, random_resized_crop: 224, "
           "random_erasing: {value: random}, random_erasing: {value: [1, 2, 3]}]\n"
           "preprocess: [scale: 0.5, mean_image: train, mean_rgb: [1, 2, "
           "3], mean_rgb: train, std_rgb: 2, samplewise_center, samplewise_std, zca: train]\n");
  std::vector<std::string_view> names;
  for (const auto& item : section.augment) names.push_back(item->name());
  for (const auto& item : section.preprocess) names.push_back(item->name());
  CHECK(names == std::vector<std::string_view>{"shift",
                                               "hflip",
                                               "vflip",
                                               "pad_crop",
                                               "resize",
                                               "rotate",
                                               "shear",
                                               "zoom",
                                               "hflip",
                                               "zoom",
                                               "center_crop",
                                               "channel_shift",
                                               "brightness",
                                               "hls_jitter",
                                               "colour_jitter",
                                               "cutout",
                                               "random_resized_crop",
                                               "random_erasing",
                                               "random_erasing",
                                               "scale",
                                               "mean_image",
                                               "mean_rgb",
                                               "mean_rgb",
                                               "std_rgb",
                                               "samplewise_center",
                                               "samplewise_std",
                                               "zca"});
  float image[3] = {10, 20, 30};
  const auto run = [&](const PixelTransform& step) {
    run_program(SampleProgram{
        .samples = image, .channels = 3, .plane = 1, .width = 1, .pixels = {1, {step}}});
  };
  run(section.preprocess[0]->step());
  CHECK(image[2] == 15.0f);
  Statistics none;
  const auto mean = section.preprocess[2]->prepared(none, Shape{3, 1, 1});
  run(mean->step());
  CHECK(image[2] == 12.0f);
  CHECK(section.preprocess[3]->needs_statistics());
  CHECK_FALSE(section.preprocess[4]->needs_statistics());
}

TEST_CASE("every augmentation has an example in docs/language/data.md") {
  std::set<std::string_view> documented;
  const auto augmentations = test::documented_augmentations();
  for (const auto& augmentation : augmentations) documented.insert(augmentation->name());
  for (const auto& kind : augmentation_kinds()) {
    CAPTURE(kind.name);
    CHECK(documented.contains(kind.name));
  }
}

TEST_CASE("pad_crop takes one number or a pair as its size") {
  const auto size_of = [](const std::string& size) {
    const DataSection section = read(kSource + "augment: [pad_crop: {pad: 4, size: " + size + "}]");
    return section.augment[0]->output_shape(Shape{3, 32, 32});
  };
  CHECK(size_of("28") == Shape{3, 28, 28});
  CHECK(size_of("[20, 24]") == Shape{3, 20, 24});
}

TEST_CASE("changes of bytes are read with torchvision's probabilities") {
  const DataSection section =
      read(kSource + "augment: [sharpness: 2, grayscale: {}, gaussian_blur: {size: 3}]");
  const auto changed = [&](std::size_t place) {
    int count = 0;
    for (std::int64_t i = 0; i < 2000; ++i) {
      ColourTransform step;
      section.augment[place]->colours({.seed = 1, .index = i}, 0, Shape{3, 8, 8}, &step);
      count += step.change != 0;
    }
    return count;
  };
  CHECK(std::abs(changed(0) - 1000) < 112);  // five deviations of sqrt(2000 / 4)
  CHECK(std::abs(changed(1) - 200) < 68);    // and of sqrt(2000 * 0.09)
  CHECK(changed(2) == 2000);
  CHECK(test::holds(config_message(kSource + "augment: [gaussian_blur: 4]"),
                    "expected an odd number, found 4"));
  CHECK(test::holds(config_message(kSource + "augment: [sharpness: {}]"), "factor"));
}

TEST_CASE("an unknown source is refused with the nearest name") {
  const std::string message = config_message("{source: cifar1O}");
  CHECK(holds(message, "run.yaml:1:10: "));
  CHECK(holds(message, "cifar10"));
}

TEST_CASE("idx requires both files or a root") {
  CHECK(config_message("{source: idx, images: a}") ==
        "run.yaml:1:1: 'images' and 'labels' go together; give both, or 'root' and 'split'");
  CHECK(config_message("{source: idx}") ==
        "run.yaml:1:1: give either 'images' and 'labels', or 'root'");
  CHECK(config_message("{source: idx, root: a, images: b, labels: c}") ==
        "run.yaml:1:1: give either 'images' and 'labels', or 'root'");
}

TEST_CASE("a shift of a broken number of pixels is refused") {
  CHECK(config_message(kSource + "augment: [shift: {x: 1.5}]") ==
        "run.yaml:2:22: expected a fraction below 1 or a whole number of pixels, found 1.5");
}

TEST_CASE("a synthetic shape of two numbers is refused") {
  CHECK(config_message("{source: synthetic, shape: [3, 32]}") ==
        "run.yaml:1:28: expected [channels, height, width], found 2 numbers");
}

TEST_CASE("sources of sequences refuse keys that contradict each other") {
  CHECK(config_message("{source: synthetic_sequences}") ==
        "run.yaml:1:1: 'synthetic_sequences' requires either 'features' or 'vocabulary'");
  CHECK(config_message("{source: synthetic_sequences, features: 2, labels: next}") ==
        "run.yaml:1:52: numeric sequences have classes; give 'vocabulary' for tokens");
  CHECK(config_message("{source: arrays}") ==
        "run.yaml:1:1: give 'file', or 'x' and 'y': an .npz file, or two .npy files");
  CHECK(config_message("{source: text, file: x, vocabulary: 1}") ==
        "run.yaml:1:37: expected 0 or at least 2: '<unknown>' is one of the tokens");
}

TEST_CASE("a table says what its columns are, and what is done with cells without a value") {
  CHECK(holds(config_message("{source: table, file: x}"), "'columns'"));
  CHECK(holds(config_message("{source: table, file: x, columns: {lable: y}}"),
              "did you mean 'label'?"));
  CHECK(config_message("{source: table, file: x, columns: {label: y}, missing: {value: 0}}") ==
        "no error");
  CHECK(config_message("{source: table, file: x, columns: {label: y}, missing: drop}") ==
        "no error");
  CHECK(holds(config_message("{source: table, file: x, columns: {label: y}, missing: 0}"),
              "must be one of error, mean, drop"));
  const auto columns = [](const std::string& of) {
    return config_message("{source: table, file: x, columns: " + of + "}");
  };
  CHECK(columns("{price: float, w: weight, tags: [a, b]}") == "no error");
  CHECK(columns("{label: y, labels: {column: all, split: \";\"}}") == "no error");
  CHECK(columns("{at: {columns: [x, y], standardize: true}}") == "no error");
  CHECK(holds(columns("{ignore: [y]}"), "missing key 'label' in 'columns'"));
  CHECK(holds(columns("{label: y, ignored: [z]}"), "did you mean 'ignore'?"));
  CHECK(holds(columns("{at: {split: \";\"}}"), "give 'column' or 'columns'"));
  CHECK(holds(columns("{at: {columns: [x, y], split: \";\"}}"), "of one column"));
  CHECK(holds(columns("{length: l}"), "a field that samples have of their own; rename it"));
  CHECK(config_message("{source: table, file: x, columns: {label: y}, separator: space}") ==
        "run.yaml:1:58: 'space' divides no table; use 'comma', 'semicolon' or 'tab'");
}

TEST_CASE("texts are words or characters of two columns") {
  CHECK(holds(config_message("{source: texts, file: x, columns: {text: t}}"), "'label'"));
  const std::string texts = "{source: texts, file: x, columns: {text: t, label: y}, ";
  CHECK(config_message(texts + "unit: bytes}") == "run.yaml:1:62: expected words or characters");
  CHECK(config_message(texts + "vocabulary: 2}") ==
        "run.yaml:1:68: expected 0 or at least 3: '<pad>' and '<unknown>' are two of the tokens");
}

TEST_CASE("the columns of a list of images are a list, or the names of two") {
  const std::string list = "{source: image_list, file: x, ";
  CHECK(config_message(list + "columns: [index, label, path]}") == "no error");
  CHECK(config_message(list + "columns: {image: file, label: species}}") == "no error");
  CHECK(config_message(list + "columns: {image: file}, header: false}") ==
        "run.yaml:1:63: 'columns' names columns of the first line; remove 'header: false'");
  CHECK(config_message(list + "columns: {image: file}, path: photo}") ==
        "run.yaml:1:61: 'columns' has another name, 'file'; remove 'path'");
}

TEST_CASE("an augmentation acts in its epochs and else does what it does in evaluation") {
  const auto augment = [](const std::string& flip) {
    return config_message("augment: [" + flip + "]\n" + kSource);
  };
  CHECK(augment("hflip: {from: 2, until: 2}").ends_with("'until' must be after 'from'"));
  CHECK(augment("hflip: {from: -1}").ends_with("a whole number of at least 0, found number -1"));
  const DataSection section = read(
      "augment: [hflip: {probability: 1, from: 1, until: 3}, zoom: {range: 0.5, until: 2}, "
      "brightness: {range: [2, 2], from: 2}]\n" +
      kSource);
  const Shape image{1, 4, 4};
  const Pipeline pipeline(image, section.augment, {});
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    std::array<SpatialTransform, 2> steps;
    ColourTransform colour;
    const SampleKey key{.seed = 1, .epoch = epoch, .index = 5};
    pipeline.train_steps(key, image, steps.data());
    pipeline.train_colours(key, &colour);
    CHECK(steps[0].mirror_x == (epoch == 1 || epoch == 2));
    CHECK((colour.change != 0) == (epoch >= 2));
  }
}

TEST_CASE("two image channels are refused") {
  CHECK(config_message("{source: image_folder, root: x, channels: 2}") ==
        "run.yaml:1:43: expected 1 or 3, found 2");
}

TEST_CASE("per-channel values that are not numbers are refused") {
  const std::string wanted = "expected 'train', one number, or one number per channel, found ";
  CHECK(config_message(kSource + "preprocess: [mean_rgb: test]") ==
        "run.yaml:2:24: " + wanted + "text 'test'");
  CHECK(config_message(kSource + "preprocess: [mean_rgb: {values: []}]") ==
        "run.yaml:2:33: " + wanted + "an empty list");
  CHECK(config_message(kSource + "preprocess: [mean_rgb]") ==
        "run.yaml:2:14: " + wanted + "nothing");
  CHECK(holds(config_message(kSource + "preprocess: [std_rgb: [1, x]]"), wanted + "text 'x'"));
  CHECK(holds(config_message(kSource + "preprocess: [std_rgb: [1, 0]]"),
              "expected numbers above 0, found "));
  CHECK(config_message(kSource + "preprocess: [std_rgb: 0.5]") == "no error");
}

TEST_CASE("windows of no area, of a reversed range or of unknown values are refused") {
  const auto augment = [](const std::string& text) {
    return config_message(kSource + "augment: [" + text + "]");
  };
  CHECK(augment("random_resized_crop: [[32, 24], [0.1, 1], [0.5, 2]]") == "no error");
  CHECK(holds(augment("random_resized_crop"), "size"));
  CHECK(holds(augment("random_resized_crop: 0"),
              "must be a whole number from 1 to 16384 or two of them"));
  CHECK(augment("random_resized_crop: {size: 8, scale: [0.9, 0.1]}") ==
        "run.yaml:2:49: expected [low, high] with low <= high");
  CHECK(holds(augment("random_resized_crop: {size: 8, scale: [0.5]}"),
              "expected [low, high] with low <= high"));
  CHECK(holds(augment("random_resized_crop: {size: 8, scale: [0, 1]}"),
              "must be a list of numbers from"));
  CHECK(holds(augment("random_resized_crop: {size: 8, scale: [0.5, 1.5]}"),
              "must be a list of numbers from"));
  CHECK(holds(augment("random_resized_crop: {size: 8, ratio: [0, 1]}"),
              "must be a list of numbers from 0.001 to 1000, found"));
  CHECK(holds(augment("random_resized_crop: {size: 8, center: 0}"),
              "must be a number from 0.001 to 1, found number 0"));
  CHECK(augment("gaussian_blur: {size: 255}") == "no error");
  CHECK(holds(augment("gaussian_blur: {size: 257}"), "must be a whole number from 1 to 255"));
  CHECK(holds(augment("colour_jitter"), "expected at least one of 'brightness', 'contrast', "));
  for (const char* key : {"brightness", "contrast", "saturation", "hue"}) {
    CHECK(augment("colour_jitter: {" + std::string(key) + ": 0.1}") == "no error");
  }
  CHECK(augment("random_erasing: [0.5, [0, 1], [1, 1], 3]") == "no error");
  CHECK(holds(augment("random_erasing: 1.5"), "must be a number from 0 to 1, found number 1.5"));
  CHECK(holds(augment("random_erasing: {ratio: [3, 1]}"), "expected [low, high] with low <= high"));
  CHECK(holds(augment("random_erasing: {scale: [0.5, 2]}"),
              "must be a list of numbers from 0 to 1, found"));
  const std::string wanted = "expected 'random', one number, or one number per channel, found ";
  CHECK(holds(augment("random_erasing: {value: mean}"), wanted + "text 'mean'"));
  CHECK(holds(augment("random_erasing: {value: []}"), wanted + "an empty list"));
  CHECK(holds(augment("random_erasing: {value: [1, 2, 3, 4, 5]}"),
              "expected at most 4 numbers, found 5"));
}

TEST_CASE("the keys of every kind describe themselves") {
  config::Fields fields(config::Profile::keras2);
  DataSection section;
  declare(fields, section);
  fields.finish();
  CHECK(fields.descriptions().size() == 3);
}

}  // namespace trainyard
