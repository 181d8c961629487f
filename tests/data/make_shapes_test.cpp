#include "data/sets/make_shapes.h"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>

#include "data/sets/cifar.h"
#include "helpers.h"

namespace trainyard {

using namespace test;
using testing::text_of;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> kFiles{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                      "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin",
                                      "batches.meta.txt"};

std::string all_contents(const fs::path& folder) {
  std::string all;
  for (const std::string& file : kFiles) all += text_of(folder / file);
  return all;
}

ShapesOptions few(std::uint64_t seed = 1) { return {.train = 23, .test = 6, .seed = seed}; }

Cifar10Options reading(const fs::path& folder, Split split = Split::train) {
  Cifar10Options options;
  options.root = folder.string();
  options.split = split;
  return options;
}

/// Limits the size of files of this process to `bytes` during the object's lifetime; writing fails
/// instead of raising a signal.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("the cifar10 source reads the shapes set") {
  const test::TemporaryFolder folder;
  const fs::path dest = folder.path() / "a/b/cifar-10-batches-bin";
  make_shapes(dest, few());
  const auto train = open_cifar10(reading(folder.path() / "a/b"));
  CHECK(train->size() == 23);
  CHECK(train->class_names()[3] == "triangle");
  CHECK(open_cifar10(reading(dest, Split::test))->size() == 6);
  CHECK(fs::file_size(dest / "data_batch_1.bin") == 4 * 3073);
  CHECK(fs::file_size(dest / "data_batch_5.bin") == 5 * 3073);
}

TEST_CASE("the shapes set of a seed is bit-identical at any number of threads") {
  const test::TemporaryFolder folder;
  make_shapes(folder.path() / "one", few());
  ShapesOptions options = few();
  options.threads = 3;
  make_shapes(folder.path() / "three", options);
  make_shapes(folder.path() / "other", few(2));
  const std::string one = all_contents(folder.path() / "one");
  CHECK(all_contents(folder.path() / "three") == one);
  CHECK(all_contents(folder.path() / "other") != one);
}

TEST_CASE("the shapes set of a known seed does not change") {
  // Stored once: results on the set are compared between machines and versions.
  const test::TemporaryFolder folder;
  make_shapes(folder.path() / "x", few());
  CHECK(open_cifar10(reading(folder.path() / "x"))->fingerprint() ==
        "ac002990c07b70d7ad7b8f3a4959ac69");
  CHECK(open_cifar10(reading(folder.path() / "x", Split::test))->fingerprint() ==
        "efe9719559f088b751a23eb8e17b6338");
}

TEST_CASE("a sample of the shapes set depends on split and index") {
  const auto pixels_of = [](Split split, std::int64_t index) {
    std::vector<std::uint8_t> pixels(3072);
    draw_shapes_sample(1, split, index, pixels);
    return pixels;
  };
  CHECK(pixels_of(Split::train, 0) == pixels_of(Split::train, 0));
  CHECK(pixels_of(Split::train, 0) != pixels_of(Split::train, 1));
  CHECK(pixels_of(Split::train, 0) != pixels_of(Split::test, 0));
}

TEST_CASE("the labels of the shapes set are about equally frequent") {
  std::array<int, kFigures> count{};
  std::vector<std::uint8_t> pixels(3072);
  for (int i = 0; i < 2000; ++i) {
    ++count[static_cast<std::size_t>(draw_shapes_sample(1, Split::train, i, pixels))];
  }
  // 200 expected, deviation 13.4: five of them are 67.
  for (const int found : count) CHECK(std::abs(found - 200) < 67);
}

TEST_CASE("every figure is drawn inside its radius and not outside of it") {
  for (std::int32_t i = 0; i < kFigures; ++i) {
    CAPTURE(figure_names()[static_cast<std::size_t>(i)]);
    int inside = 0;
    for (int y = -40; y <= 40; ++y) {
      for (int x = -40; x <= 40; ++x) {
        const FigurePoint point{0.05f * static_cast<float>(x), 0.05f * static_cast<float>(y)};
        if (figure_distance(static_cast<ShapeFigure>(i), point) > 0) continue;
        ++inside;
        CHECK(point.u * point.u + point.v * point.v < 1.5f * 1.5f);
      }
    }
    // The unit disc has pi / 0.05^2 = 1257 points; the crescent, the smallest, a third of it.
    CHECK(inside > 400);
    CHECK(inside < 1300);
  }
}

TEST_CASE("the figures differ in their outlines or patterns") {
  const auto look = [](std::int32_t figure) {
    std::string text;
    for (int y = -9; y <= 9; ++y) {
      for (int x = -9; x <= 9; ++x) {
        const FigurePoint point{0.11f * static_cast<float>(x), 0.11f * static_cast<float>(y)};
        const auto kind = static_cast<ShapeFigure>(figure);
        const bool inside = figure_distance(kind, point) < 0;
        text += !inside ? ' ' : figure_pattern(kind, point, 3) ? 'o' : 'x';
      }
    }
    return text;
  };
  for (std::int32_t a = 0; a < kFigures; ++a) {
    for (std::int32_t b = 0; b < a; ++b) CHECK(look(a) != look(b));
  }
}

TEST_CASE("make_shapes takes an empty folder, also with a slash at the end") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "empty");
  make_shapes(folder.path() / "empty/", few());
  CHECK(fs::exists(folder.path() / "empty/test_batch.bin"));
  CHECK_FALSE(fs::exists(folder.path() / "empty.unfinished"));
}

TEST_CASE("make_shapes overwrites nothing") {
  const test::TemporaryFolder folder;
  folder.write("real/data_batch_1.bin", "precious");
  CHECK(message_of(ErrorKind::data, [&] { make_shapes(folder.path() / "real", few()); }) ==
        "'" + folder.text() +
            "/real' exists and is not an empty folder; give a new one, so that no data is "
            "overwritten");
  CHECK(text_of(folder.path() / "real/data_batch_1.bin") == "precious");
}

TEST_CASE("make_shapes replaces what a killed run left") {
  const test::TemporaryFolder folder;
  folder.write("x.unfinished/data_batch_9.bin", "half");
  make_shapes(folder.path() / "x", few());
  CHECK_FALSE(fs::exists(folder.path() / "x/data_batch_9.bin"));
}

TEST_CASE("make_shapes into an impossible folder is a disk error") {
  const test::TemporaryFolder folder;
  folder.write("file", "");
  CHECK(message_of(ErrorKind::disk, [&] { make_shapes(folder.path() / "file/x", few()); }) ==
        "cannot write '" + folder.text() + "/file/x.unfinished': Not a directory");
}

TEST_CASE("make_shapes on a full disk is a disk error and leaves nothing") {
  const test::TemporaryFolder folder;
  std::string message;
  {
    const FileSizeLimit limit(10000);
    message = message_of(ErrorKind::disk, [&] { make_shapes(folder.path() / "x", few()); });
  }
  CHECK(message == "cannot write '" + folder.text() +
                       "/x.unfinished/data_batch_1.bin': the disk is full or not writable");
  CHECK(fs::is_empty(folder.path()));
}

}  // namespace trainyard
