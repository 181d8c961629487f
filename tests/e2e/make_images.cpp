// Makes folders of images for the e2e scripts, a folder for each class:
//
//   make_images figures SEED FOLDER             300 drawings in five classes: sides of 40 to 160
//                                                 pixels, JPEG and PNG, some grey, some with alpha
//   make_images cifar10|fashion_mnist COUNT DATA FOLDER
//                                                 the first COUNT training images as PNG files
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "data/sets/cifar.h"
#include "data/sets/idx.h"
#include "data/sets/make_shapes.h"

using namespace trainyard;
namespace fs = std::filesystem;

namespace {

struct Drawn {
  ShapeFigure figure;
  const char* folder;
};
constexpr std::array kDrawn = {
    Drawn{ShapeFigure::disc, "circle"}, Drawn{ShapeFigure::square, "square"},
    Drawn{ShapeFigure::triangle, "triangle"}, Drawn{ShapeFigure::stripes, "stripes"},
    Drawn{ShapeFigure::ring, "grün ring"}};
constexpr int kOfClass = 60;

using Color = std::array<float, 3>;

/// The drawings of a seed, one after another. Numbers are taken from the generator's bits, so that
/// every library draws the same.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : bits_(seed) {}
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(bits_() >> 40) / 16777216.0f;
  }
  int below(int count) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(count)); }
  Color color() { return {between(0, 255), between(0, 255), between(0, 255)}; }
  Color color_unlike(const Color& other) {
    Color color = this->color();
    while (std::abs(color[0] - other[0]) + std::abs(color[1] - other[1]) +
               std::abs(color[2] - other[2]) <
           150) {
      color = this->color();
    }
    return color;
  }

 private:
  std::mt19937_64 bits_;
};

struct Canvas {
  int w, h;
  std::vector<Color> pixels;
  Color& at(int y, int x) { return pixels[static_cast<std::size_t>(y * w + x)]; }
};

struct Place {
  float x, y, radius, angle;
  [[nodiscard]] FigurePoint in_figure(int at_y, int at_x) const {
    const float dx = (static_cast<float>(at_x) - x) / radius;
    const float dy = (static_cast<float>(at_y) - y) / radius;
    return {std::cos(angle) * dx + std::sin(angle) * dy,
            std::cos(angle) * dy - std::sin(angle) * dx};
  }
};

template <class Inside, class ColorAt>
void paint(Canvas& canvas, const Place& place, const Inside& inside, const ColorAt& color) {
  for (int y = 0; y < canvas.h; ++y) {
    for (int x = 0; x < canvas.w; ++x) {
      const FigurePoint point = place.in_figure(y, x);
      if (inside(point)) canvas.at(y, x) = color(point);
    }
  }
}

void paint_bar(Canvas& canvas, Draws& draws) {
  const auto w = static_cast<float>(canvas.w), h = static_cast<float>(canvas.h);
  const Place place{draws.between(0, w), draws.between(0, h), draws.between(0.1f, 0.3f) * h,
                    draws.between(0, 6.28f)};
  const float width = draws.between(0.1f, 0.4f);
  const Color color = draws.color();
  paint(
      canvas, place,
      [&](FigurePoint point) { return std::abs(point.u) < 1 && std::abs(point.v) < width; },
      [&](FigurePoint) { return color; });
}

/// A figure anywhere on a shaded ground with bars, under noise.
Canvas drawing(ShapeFigure figure, Draws& draws) {
  Canvas canvas{40 + draws.below(121), 40 + draws.below(121), {}};
  const Color from = draws.color(), to = draws.color();
  for (int i = 0; i < canvas.w * canvas.h; ++i) {
    const float part = 0.6f * static_cast<float>(i) / static_cast<float>(canvas.w * canvas.h);
    Color color;
    for (std::size_t c = 0; c < 3; ++c) color[c] = from[c] + part * (to[c] - from[c]);
    canvas.pixels.push_back(color);
  }
  if (draws.below(2) == 0) paint_bar(canvas, draws);
  const auto side = static_cast<float>(std::min(canvas.w, canvas.h));
  const float radius = side * draws.between(0.25f, 0.4f);
  const auto middle = [&](int extent) {
    const float part = static_cast<float>(extent);
    return part / 2 + draws.between(-1, 1) * (side / 2 - radius);
  };
  const float x = middle(canvas.w), y = middle(canvas.h);
  const Place place{x, y, radius, draws.between(-0.3f, 0.3f)};
  const Color color = draws.color_unlike(from), other = draws.color_unlike(color);
  paint(
      canvas, place, [&](FigurePoint point) { return figure_distance(figure, point) < 0; },
      [&](FigurePoint point) { return figure_pattern(figure, point, 2.5f) ? other : color; });
  const float noise = draws.between(5, 25);
  for (Color& pixel : canvas.pixels) {
    for (float& value : pixel) value += draws.between(-noise, noise);
  }
  return canvas;
}

/// [h, w, channels]: 1 grey, 3 colours, 4 colours and an alpha channel.
std::vector<std::uint8_t> bytes_of(const Canvas& canvas, int channels) {
  std::vector<std::uint8_t> bytes;
  const auto byte = [](float value) {
    return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
  };
  for (const Color& pixel : canvas.pixels) {
    if (channels == 1) {
      bytes.push_back(byte((pixel[0] + pixel[1] + pixel[2]) / 3));
      continue;
    }
    for (const float value : pixel) bytes.push_back(byte(value));
    if (channels == 4) bytes.push_back(255);
  }
  return bytes;
}

void require_written(int status, const std::string& file) {
  if (status == 0) throw std::runtime_error("cannot write " + file);
}

void write_figures(std::uint64_t seed, const fs::path& folder) {
  Draws draws(seed);
  for (const auto& [figure, name] : kDrawn) {
    fs::create_directories(folder / name);
    for (int i = 0; i < kOfClass; ++i) {
      const Canvas canvas = drawing(figure, draws);
      const bool jpeg = i % 2 == 0;
      const int channels = i % 10 == 1 ? 1 : i % 10 == 3 ? 4 : 3;
      const auto bytes = bytes_of(canvas, channels);
      const std::string file =
          (folder / name / ("image " + std::to_string(i) + (jpeg ? ".jpg" : ".png"))).string();
      require_written(
          jpeg ? stbi_write_jpg(file.c_str(), canvas.w, canvas.h, channels, bytes.data(), 90)
               : stbi_write_png(file.c_str(), canvas.w, canvas.h, channels, bytes.data(), 0),
          file);
    }
  }
}

void write_set(const Dataset& set, const fs::path& folder) {
  const Shape shape = set.image_shape();
  const std::int64_t pixels = shape[1] * shape[2];
  const std::vector<std::string> names = set.class_names();
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(shape.elements())), bytes;
  for (std::int64_t i = 0; i < set.size(); ++i) {
    set.read_bytes(i, planes.data());
    bytes.clear();
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      for (std::int64_t c = 0; c < shape[0]; ++c) {
        bytes.push_back(planes[static_cast<std::size_t>(c * pixels + pixel)]);
      }
    }
    std::string name = names.at(static_cast<std::size_t>(set.label(i)));
    std::ranges::replace(name, '/', '_');
    fs::create_directories(folder / name);
    const std::string file = (folder / name / (std::to_string(i) + ".png")).string();
    require_written(
        stbi_write_png(file.c_str(), static_cast<int>(shape[2]), static_cast<int>(shape[1]),
                       static_cast<int>(shape[0]), bytes.data(), 0),
        file);
  }
}

void run(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[0] == "figures") {
    return write_figures(std::stoull(words[1]), words[2]);
  }
  if (words.size() != 4) throw std::runtime_error("make_images: unknown words");
  const std::int64_t count = std::stoll(words[1]);
  if (words[0] == "cifar10") {
    Cifar10Options options;
    options.root = words[2];
    options.limit = count;
    return write_set(*open_cifar10(options), words[3]);
  }
  IdxOptions options;
  options.root = words[2] + "/fashion-mnist";
  options.limit = count;
  for (int label = 0; label < 10; ++label) options.class_names.push_back(std::to_string(label));
  write_set(*open_idx(options), words[3]);
}

}  // namespace

int main(int count, char** words) {
  try {
    run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
