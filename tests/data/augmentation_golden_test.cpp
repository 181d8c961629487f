// Augmentations against the goldens of scripts/make_augmentation_goldens.py: the formulas of Keras
// 2.1.6 over scipy, and PyTorch's.
#include <doctest/doctest.h>

#include <cmath>

#include "config/load.h"
#include "data/augment/crops.h"
#include "data/augment/erasing.h"
#include "data/augment/image_loops.h"
#include "data/augment/keras_warps.h"

namespace trainyard {
namespace {

using Values = std::vector<float>;

const Shape kGoldenShape{2, 7, 10};

config::Node goldens(const std::string& name) {
  return config::load_yaml(std::string(TY_SOURCE_DIR) + "/tests/data/goldens/" + name);
}

/// The script's image.
Values golden_image(const Shape& shape) {
  Values image;
  for (std::int64_t c = 0; c < shape[0]; ++c)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x) {
        const std::int64_t value = 17 * c + 5 * y + 11 * x + x * y * (c + 3);
        image.push_back(static_cast<float>(value * value % 251));
      }
  return image;
}

double number(const config::Node& row, const char* key) { return row.find(key)->real; }
double number(const config::Node& row, const char* key, std::size_t i) {
  return row.find(key)->items[i].real;
}

NumberRange range(const config::Node& row, const char* key) {
  return {number(row, key, 0), number(row, key, 1)};
}

/// The script's sample, at place 2 of the list of augmentations.
SampleKey sample_of(const config::Node& row) {
  return {.seed = 5, .epoch = 1, .index = row.find("index")->integer};
}

template <class E>
E word_of(const config::Node& row, const char* key, E kind) {
  for (const auto& each : words(kind)) {
    if (each.word == row.find(key)->text) return each.value;
  }
  FAIL("an unknown word");
  return kind;
}

Values stepped(const SpatialTransform& step, const Values& in, std::int64_t channels) {
  Values out(static_cast<std::size_t>(channels * step.out_h * step.out_w));
  run_step(step, channels, in.data(), out.data());
  return out;
}

/// The row's bytes.
Values bytes_of(const config::Node& row) {
  const std::string& digits = row.find("out")->text;
  Values values;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    values.push_back(static_cast<float>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return values;
}

/// The largest difference from the row's values; infinite if their number differs.
double furthest(const Values& found, const config::Node& row) {
  const std::vector<config::Node>& expected = row.find("out")->items;
  if (expected.size() != found.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(found[i]) - expected[i].real));
  }
  return most;
}

Affine keras_map(const config::Node& row) {
  const Affine shift{.y0 = number(row, "shift", 0), .x0 = number(row, "shift", 1)};
  const Affine turned = composed(Rotate::by(number(row, "rotate"), kGoldenShape), shift);
  const Affine sheared = composed(turned, Shear::by(number(row, "shear"), kGoldenShape));
  return composed(sheared, Zoom::by(number(row, "zoom", 0), number(row, "zoom", 1), kGoldenShape));
}

/// The augmentation that a row has as a run file's list has it.
std::shared_ptr<const Augmentation> augmentation_of(const config::Node& row) {
  config::Diagnostics diagnostics;
  config::Fields fields(row, nullptr, "", config::Profile::keras2, diagnostics);
  std::shared_ptr<const Augmentation> augmentation;
  fields.one_of("augment", augmentation, "what is tested", augmentation_kinds());
  diagnostics.raise();
  return augmentation;
}

/// The script's image after colour steps.
Values coloured(const Shape& shape, std::span<const ColourTransform> steps) {
  Values image = golden_image(shape);
  const std::int64_t plane = shape[1] * shape[2];
  Values room(static_cast<std::size_t>(SampleView::room_of(plane)), NAN);
  run_program(SampleProgram{.samples = image.data(),
                            .channels = shape[0],
                            .plane = plane,
                            .width = static_cast<std::int32_t>(shape[2]),
                            .room = room.data(),
                            .colours = steps.data(),
                            .colour_transforms = static_cast<std::int32_t>(steps.size())});
  return image;
}
Values coloured(const ColourTransform& step) { return coloured({3, 7, 10}, {&step, 1}); }

}  // namespace

TEST_CASE("warps are Keras's matrices with scipy's interpolation, in every fill") {
  const config::Node all = goldens("warps.yaml");
  CHECK(all.items.size() == 4 * 5 * 2);
  for (const config::Node& row : all.items) {
    const Sampling sampling{.fill = word_of(row, "fill", Fill{}),
                            .cval = 7,
                            .interpolation = word_of(row, "interpolation", Interpolation{})};
    CAPTURE(row.find("name")->text);
    CAPTURE(row.find("fill")->text);
    CAPTURE(row.find("interpolation")->text);
    const SpatialTransform step = warp_step(keras_map(row), sampling, kGoldenShape, kGoldenShape);
    // Nearest pixels are exact; bilinear ones are in float: 255 * a few * 2^-24.
    CHECK(furthest(stepped(step, golden_image(kGoldenShape), 2), row) <=
          (step.interpolates ? 1e-4 : 0.0));
  }
}

TEST_CASE("resize reads between pixels as PyTorch does without smoothing") {
  for (const config::Node& row : goldens("resizes.yaml").items) {
    const Resize resize(config::Pair{static_cast<std::int64_t>(number(row, "size", 0)),
                                     static_cast<std::int64_t>(number(row, "size", 1))},
                        {.interpolation = Interpolation::bilinear});
    CHECK(furthest(stepped(resize.eval_step(kGoldenShape), golden_image(kGoldenShape), 2), row) <=
          1e-4);
  }
}

TEST_CASE("random_resized_crop draws torchvision's windows, and stretches them as resize does") {
  const config::Node all = goldens("crops.yaml");
  CHECK(all.items.size() == 4 * 4);
  for (const config::Node& row : all.items) {
    const Shape shape{2, row.find("image")->items[0].integer, row.find("image")->items[1].integer};
    const auto& size = row.find("size")->items;
    const RandomResizedCrop crop({.size = {size[0].integer, size[1].integer},
                                  .window = {range(row, "scale"), range(row, "ratio")}},
                                 {.interpolation = Interpolation::bilinear});
    const SpatialTransform step = crop.step(sample_of(row), 2, shape);
    CAPTURE(row.where.text());
    CHECK(step.map.yy * static_cast<double>(step.out_h) ==
          doctest::Approx(number(row, "window", 2)));
    CHECK(step.map.xx * static_cast<double>(step.out_w) ==
          doctest::Approx(number(row, "window", 3)));
    CHECK(furthest(stepped(step, golden_image(shape), 2), row) <= 1e-4);
  }
}

TEST_CASE("random_resized_crop with a filter has the bytes of torchvision's with PIL images") {
  const config::Node all = goldens("filtered_crops.yaml");
  CHECK(all.items.size() == 3 * 3 * 2);
  for (const config::Node& row : all.items) {
    const auto& size = row.find("image")->items;
    const Shape shape{size[0].integer, size[1].integer, size[2].integer};
    const SpatialTransform step = augmentation_of(row)->step(sample_of(row), 2, shape);
    CAPTURE(row.where.text());
    CHECK(stepped(step, golden_image(shape), shape[0]) == bytes_of(row));
  }
}

TEST_CASE("random_erasing draws torchvision's windows") {
  const config::Node all = goldens("erasings.yaml");
  CHECK(all.items.size() == 3 * 4);
  for (const config::Node& row : all.items) {
    RandomErasingOptions options{
        .probability = 1, .scale = range(row, "scale"), .ratio = range(row, "ratio"), .value = {}};
    for (const config::Node& value : row.find("value")->items) {
      options.value.push_back(static_cast<float>(value.real));
    }
    ColourTransform step;
    RandomErasing(options).colours(sample_of(row), 2, {3, 7, 10}, &step);
    CAPTURE(row.where.text());
    CHECK(furthest(coloured(step), row) == 0.0);
  }
}

TEST_CASE("augmentations have torchvision's defaults") {
  const auto read = [](const std::string& text) {
    return augmentation_of(config::parse_yaml("augment: {" + text + "}", "t.yaml"));
  };
  const auto amount_of = [&](const std::string& text, std::int64_t index = 0) {
    std::vector<ColourTransform> steps(4);
    read(text)->colours({.index = index}, 0, {3, 7, 10}, steps.data());
    return steps[0].amount[0];
  };
  CHECK(amount_of("solarize: {probability: 1}") == 128);
  CHECK(amount_of("posterize: {probability: 1}") == 16);
  CHECK(amount_of("cutout: 3") == 0);
  CHECK(read("rand_augment: {}")->colour_transforms() == 2);
  for (std::int64_t index = 0; index < 50; ++index) {
    CHECK(amount_of("rand_augment: {}", index) == amount_of("rand_augment: [2, 9]", index));
  }
}

TEST_CASE("solarize takes any number of channels, grayscale 1 or 3") {
  const auto shaped = [](const std::string& name, const Shape& shape) {
    return augmentation_of(config::parse_yaml("augment: " + name, "t.yaml"))->output_shape(shape);
  };
  CHECK(shaped("solarize", {2, 4, 4}) == Shape{2, 4, 4});
  CHECK(shaped("grayscale", {1, 4, 4}) == Shape{1, 4, 4});
  CHECK_THROWS_AS((void)shaped("grayscale", {2, 4, 4}), Error);
}

TEST_CASE("augmentations as a run file names them draw and change what their formulas say") {
  for (const config::Node& row : goldens("augmentations.yaml").items) {
    CAPTURE(row.where.text());
    const auto augmentation = augmentation_of(row);
    const auto& size = row.find("image")->items;
    const Shape shape{3, size[0].integer, size[1].integer};
    std::vector<ColourTransform> steps(static_cast<std::size_t>(augmentation->colour_transforms()));
    augmentation->colours(sample_of(row), 2, shape, steps.data());
    const bool same = coloured(shape, steps) == bytes_of(row);
    CHECK(same);
  }
}

TEST_CASE("colours are those of Keras over Pillow, MXNet over OpenCV, and torchvision") {
  const config::Node all = goldens("colours.yaml");
  CHECK(all.items.size() == 2 + 3 + 4 + 6 + 3);
  for (const config::Node& row : all.items) {
    const std::string& name = row.find("kind")->text;
    CAPTURE(name);
    ColourTransform step{.change = change_number(name)};
    for (std::size_t i = 0; i < row.find("amount")->items.size(); ++i) {
      step.amount[i] = static_cast<float>(number(row, "amount", i));
    }
    CAPTURE(step.amount[0]);
    // Changes of bytes are exact; torchvision computes in 0..1, in float.
    const bool bytes = name.starts_with("shift") || name == "stretch";
    CHECK(furthest(coloured(step), row) <= (bytes ? 0.0 : 5e-4));
  }
}

}  // namespace trainyard
