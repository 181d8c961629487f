#include "data/sets/synthetic.h"

#include <algorithm>

#include "base/error.h"
#include "base/hash.h"
#include "base/philox.h"

namespace trainyard {

namespace {

constexpr std::int64_t kTile = 4;        // pixels per side
constexpr std::uint32_t kClassDraw = 2;  // draws 0 and 1 are the splits' noise

/// Byte `i` of the four words of a draw.
std::uint32_t byte_of(const Random4& random, std::int64_t i) {
  return (random.word[i / 4] >> (8 * (i % 4))) & 0xff;
}

class Synthetic final : public Dataset {
 public:
  Synthetic(const SyntheticOptions& options, std::uint64_t seed)
      : options_(options),
        shape_{options.shape[0], options.shape[1], options.shape[2]},
        size_(options.limit > 0 ? std::min(options.limit, options.size) : options.size),
        seed_(seed) {}

  [[nodiscard]] std::int64_t size() const override { return size_; }
  [[nodiscard]] Shape image_shape() const override { return shape_; }
  [[nodiscard]] std::int64_t classes() const override { return options_.classes; }
  void read(std::int64_t index, float* image) const override { draw(index, image); }
  [[nodiscard]] bool eight_bit() const override { return true; }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override { draw(index, image); }
  [[nodiscard]] std::int32_t label(std::int64_t index) const override {
    return static_cast<std::int32_t>(index % options_.classes);
  }
  [[nodiscard]] std::string fingerprint() const override {
    return hash128_hex("synthetic " + shape_.text() + " " + std::to_string(options_.classes) + " " +
                       std::to_string(size_) + " " + std::to_string(seed_) + " " +
                       std::to_string(static_cast<int>(options_.split)) + " " +
                       std::to_string(options_.learnable));
  }

 private:
  template <class T>
  void draw(std::int64_t index, T* image) const {
    draw_noise(index, image);
    if (options_.learnable) mix_in_class(label(index), image);
  }
  template <class T>
  void draw_noise(std::int64_t index, T* image) const;
  template <class T>
  void mix_in_class(std::int32_t label, T* image) const;

  SyntheticOptions options_;
  Shape shape_;
  std::int64_t size_;
  std::uint64_t seed_;
};

template <class T>
void Synthetic::draw_noise(std::int64_t index, T* image) const {
  constexpr std::int64_t kBytesADraw = 16;
  const std::int64_t elements = shape_.elements();
  const auto split = static_cast<std::uint32_t>(options_.split);
  for (std::int64_t first = 0; first < elements; first += kBytesADraw) {
    const Random4 random =
        random4(seed_, RandomStream::synthetic, static_cast<std::uint32_t>(first / kBytesADraw),
                split, static_cast<std::uint64_t>(index));
    const std::int64_t count = std::min(kBytesADraw, elements - first);
    for (std::int64_t i = 0; i < count; ++i) {
      image[first + i] = static_cast<T>(byte_of(random, i));
    }
  }
}

template <class T>
void Synthetic::mix_in_class(std::int32_t label, T* image) const {
  const std::int64_t tiles_wide = (shape_[2] + kTile - 1) / kTile;
  for (std::int64_t row = 0; row < shape_[0] * shape_[1]; ++row) {
    const std::int64_t channel = row / shape_[1];
    const std::int64_t tile_row = channel * shape_[1] + row % shape_[1] / kTile;
    for (std::int64_t tile = 0; tile < tiles_wide; ++tile) {
      const Random4 random =
          random4(seed_, RandomStream::synthetic, static_cast<std::uint32_t>(label), kClassDraw,
                  static_cast<std::uint64_t>(tile_row * tiles_wide + tile));
      const auto value = static_cast<float>(byte_of(random, 0));
      const std::int64_t end = std::min(shape_[2], (tile + 1) * kTile);
      for (std::int64_t x = tile * kTile; x < end; ++x) {
        T& pixel = image[row * shape_[2] + x];
        pixel = static_cast<T>(static_cast<int>(0.5f * (static_cast<float>(pixel) + value)));
      }
    }
  }
}

}  // namespace

void declare(config::Fields& fields, SyntheticOptions& options) {
  fields.field("shape", options.shape, "[channels, height, width]", {.minimum = 1});
  fields.field("classes", options.classes, "number of classes", {.minimum = 1});
  fields.field("size", options.size, "number of samples", {.minimum = 1});
  fields.field("split", options.split, "which split; both have the same classes");
  fields.field("learnable", options.learnable, "an image of the class under the noise");
  declare_common(fields, options);
  if (options.shape.size() != 3) {
    fields.error("shape", "expected [channels, height, width], found " +
                              std::to_string(options.shape.size()) + " numbers");
  }
}

DatasetPtr open_synthetic(const SyntheticOptions& options, std::uint64_t seed) {
  TY_CHECK(options.shape.size() == 3, "a synthetic image has three extents");
  return std::make_unique<Synthetic>(options, seed);
}

}  // namespace trainyard
