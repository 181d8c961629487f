// Sets of image files: their index, their sizes, and files that are not what they should be.
#include "data/sets/image_set.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <chrono>

#include "base/hash.h"
#include "data/images/image_decode.h"
#include "data/sets/image_index.h"
#include "data/sets/image_list.h"
#include "data/sets/subset.h"
#include "helpers.h"
#include "jpeg_files.h"

namespace trainyard {

using namespace test;
using std::string_literals::operator""s;

namespace {

namespace fs = std::filesystem;

/// A png of one colour.
std::string plain_png(std::uint32_t w, std::uint32_t h, char value) {
  return test::png_of({.w = w, .h = h}, std::string(3 * w * h, value));
}

ImageFolderOptions sized_options(const test::TemporaryFolder& folder, config::Pair size) {
  ImageFolderOptions options;
  options.root = folder.text();
  options.size = size;
  return options;
}

/// The only file below a folder, or "".
std::string only_file(const fs::path& folder) {
  std::string found;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file()) found += entry.path().string();
  }
  return found;
}

std::vector<ImageRecord> some_records() {
  return {{"a/b c.png", 12, -5, {3, 4}}, {"d", 0, 7, {1, 1}}};
}

}  // namespace

TEST_CASE("images of several sizes are resized to the given one when they are read") {
  const test::TemporaryFolder folder;
  folder.write("a/1.png", plain_png(5, 9, 10));
  folder.write("a/2.png", plain_png(30, 2, 20));
  for (const std::int64_t memory : {1024, 0}) {
    ImageFolderOptions options = sized_options(folder, {4, 6});
    options.memory_mib = memory;
    const auto set = open_image_folder(options);
    REQUIRE(set->image_shape() == Shape{3, 4, 6});
    std::vector<float> image(72);
    set->read(1, image.data());
    CHECK(image == std::vector<float>(72, 20));
  }
}

TEST_CASE("a set lists its files, with their hashes once they were decoded") {
  const test::TemporaryFolder folder;
  folder.write("a/1.png", plain_png(5, 9, 10));
  folder.write("b/2.png", plain_png(30, 2, 20));
  const std::string bytes = plain_png(30, 2, 20);
  for (const std::int64_t memory : {1024, 0}) {
    ImageFolderOptions options = sized_options(folder, {4, 6});
    options.memory_mib = memory;
    const auto set = open_image_folder(options);
    std::vector<float> image(72);
    set->read(1, image.data());
    set->read(1, image.data());
    const SampleFiles found = set->files();
    CHECK(found.folder == folder.path());
    REQUIRE(found.files.size() == 2);
    CHECK(found.files[0].hash.empty() == (memory == 0));
    const SampleFile& second = found.files[1];
    CHECK(second.name == "b/2.png");
    CHECK(second.label == 1);
    CHECK(second.bytes == bytes.size());
    CHECK(second.hash == hash128_hex(std::string_view(bytes)));
    struct stat status {};
    REQUIRE(::stat((folder / "b/2.png").c_str(), &status) == 0);
    CHECK(second.changed ==
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec);
  }
}

TEST_CASE(
    "the files of a subset are those of its samples, and times are no part of a fingerprint") {
  const test::TemporaryFolder folder;
  for (const char* name : {"a/1.png", "a/2.png", "b/1.png"}) folder.write(name, plain_png(4, 6, 1));
  for (const std::int64_t memory : {1024, 0}) {
    ImageFolderOptions options = sized_options(folder, {4, 6});
    options.memory_mib = memory;
    const std::string fingerprint = open_image_folder(options)->fingerprint();
    fs::last_write_time(folder / "a/1.png",
                        fs::file_time_type::clock::now() + std::chrono::hours(1));
    CHECK(open_image_folder(options)->fingerprint() == fingerprint);
    const SampleFiles part = subset(open_image_folder(options), {0, 2})->files();
    REQUIRE(part.files.size() == 2);
    CHECK(part.folder == folder.path());
    CHECK(part.files[0].name == "a/1.png");
    CHECK(part.files[1].name == "b/1.png");
  }
}

TEST_CASE("cover keeps the proportions of an image, stretch does not") {
  const test::TemporaryFolder folder;
  // Black, then white at both ends, which a centred square does not have.
  std::string pixels(3 * 6, '\0');
  pixels.replace(0, 6, 6, '\xff').replace(12, 6, 6, '\xff');
  folder.write("a/1.png", test::png_of({.w = 6, .h = 2}, pixels + std::string(18, '\0')));
  ImageFolderOptions options = sized_options(folder, {2, 2});
  options.filter = ResizeFilter::box;
  std::vector<float> image(12);
  options.fit = Fit::cover;
  open_image_folder(options)->read(0, image.data());
  CHECK(image == std::vector<float>(12, 0));
  options.fit = Fit::stretch;
  open_image_folder(options)->read(0, image.data());
  CHECK(image[0] == 170);  // two of three white pixels
}

TEST_CASE("an index of images is read as it was written") {
  const std::vector<ImageRecord> records = some_records();
  const auto read = parse_image_index(image_index_text(records));
  REQUIRE(read.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(read[i].name == records[i].name);
    CHECK(read[i].bytes == records[i].bytes);
    CHECK(read[i].changed == records[i].changed);
    CHECK(read[i].size == records[i].size);
  }
}

TEST_CASE("an index of images that was cut or changed anywhere is refused") {
  const std::string text = image_index_text(some_records());
  for (std::size_t i = 0; i < text.size(); ++i) {
    CAPTURE(i);
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK(holds(message_of(ErrorKind::data, [&] { (void)parse_image_index(changed); }),
                "the index of images "));
    CHECK(holds(message_of(ErrorKind::data, [&] { (void)parse_image_index(text.substr(0, i)); }),
                "the index of images "));
  }
}

TEST_CASE("sizes come from the index until a file changes") {
  const test::TemporaryFolder folder, cache;
  const Opening opening{.cache_folder = cache.path()};
  folder.write("a/1.png", plain_png(5, 9, 10));
  const auto sizes = [&] {
    return indexed_images(folder.path(), {"a/1.png"}, {kDefaultMaxPixels}, opening);
  };
  CHECK(sizes()[0].size == ImageSize{9, 5});
  const std::string index = only_file(cache.path());
  REQUIRE_FALSE(index.empty());
  // Another size in the index shows where sizes come from.
  auto records = sizes();
  records[0].size = {70, 80};
  cache.write(fs::relative(index, cache.path()).string(), image_index_text(records));
  CHECK(sizes()[0].size == ImageSize{70, 80});
  fs::last_write_time(folder.path() / "a/1.png",
                      fs::last_write_time(folder.path() / "a/1.png") + std::chrono::seconds(1));
  CHECK(sizes()[0].size == ImageSize{9, 5});
}

TEST_CASE("a damaged index is written again, and one that cannot be written is a warning") {
  const test::TemporaryFolder folder, cache;
  folder.write("a/1.png", plain_png(5, 9, 10));
  std::vector<std::string> warnings;
  const auto sizes = [&](const fs::path& where) {
    return indexed_images(folder.path(), {"a/1.png"}, {kDefaultMaxPixels},
                          {.cache_folder = where,
                           .warn = [&](const std::string& text) { warnings.push_back(text); }})[0]
        .size;
  };
  CHECK(sizes(cache.path()) == ImageSize{9, 5});
  const std::string index = only_file(cache.path());
  const std::string name = fs::relative(index, cache.path()).string();
  cache.write(name, "damaged");
  CHECK(sizes(cache.path()) == ImageSize{9, 5});
  CHECK(fs::file_size(index) > 50);
  CHECK(warnings.empty());
  cache.write("file", "in the way");
  CHECK(sizes(cache / "file") == ImageSize{9, 5});
  REQUIRE(warnings.size() == 1);
  CHECK(holds(warnings[0], "the next run will read the sizes of all images again"));
}

TEST_CASE("the limit of pixels holds for sizes from the index") {
  const test::TemporaryFolder folder, cache;
  folder.write("a/1.png", plain_png(5, 9, 10));
  const Opening opening{.cache_folder = cache.path()};
  CHECK(indexed_images(folder.path(), {"a/1.png"}, {45}, opening)[0].fault.empty());
  CHECK(holds(indexed_images(folder.path(), {"a/1.png"}, {44}, opening)[0].fault,
              "a/1.png' claims 5 x 9 pixels"));
}

TEST_CASE("the size of an image whose header is longer than its first part is found") {
  const test::TemporaryFolder folder;
  std::string jpeg = test::grey_jpeg({.w = 16, .h = 8});
  for (int i = 0; i < 2; ++i) {  // two comments of 60,000 bytes before the frame
    jpeg.insert(2, std::string("\xff\xfe\xea\x62") + std::string(60'000, 'x'));
  }
  folder.write("long.jpg", jpeg);
  CHECK(image_file_size(folder / "long.jpg", kDefaultMaxPixels) == ImageSize{8, 16});
}

TEST_CASE("bad images are listed in their order, for any number of threads") {
  const test::TemporaryFolder folder;
  for (int i = 100; i < 140; ++i) {
    folder.write("a/" + std::to_string(i) + ".png",
                 i % 3 == 0 ? "not an image" : plain_png(2, 2, 1));
  }
  for (int repeat = 0; repeat < 5; ++repeat) {
    CHECK(holds(message_of(ErrorKind::data,
                           [&] {
                             (void)open_image_folder(sized_options(folder, {2, 2}));
                           }),
                "13 files cannot be used:\n  '" + folder.text() +
                    "/a/102.png' is not a JPEG, PNG, WebP, GIF or BMP file"));
  }
}

TEST_CASE("images of every kind of damage are refused by name when a folder is opened") {
  struct Case {
    std::string file, bytes, text;
  };
  const std::string jpeg = test::grey_jpeg({.w = 16, .h = 16});
  const std::vector<Case> cases{
      {"z.jpg", "", "z.jpg' is empty"},
      {"z.jpg", jpeg.substr(0, jpeg.size() - 4), "z.jpg' cannot be decoded"},
      {"z.jpg", test::grey_jpeg({.w = 65'500, .h = 65'500}), "claims 65500 x 65500 pixels"},
      {"z.png", test::png_of({.claimed_w = 16'000, .claimed_h = 16'000}, "xyz"),
       "claims 16000 x 16000 pixels"},
      {"z.jpg", "II*\0..."s, "is a TIFF file, expected JPEG, PNG, WebP, GIF or BMP"},
      {"z.gif", "GIF89a", "z.gif' is truncated: it ends in its header"},
      {"z.webp", "RIFF....WEBP", "z.webp' is truncated"},
      {"z.tif", "II*\0..."s, "z.tif' is an image of another format"},
      {"z.png", std::string(100, '\0'), "is not a JPEG, PNG, WebP, GIF or BMP file"},
  };
  for (const Case& bad : cases) {
    const test::TemporaryFolder folder;
    folder.write("a/1.png", plain_png(2, 2, 1));
    folder.write("a/" + bad.file, bad.bytes);
    CAPTURE(bad.text);
    CHECK(holds(message_of(ErrorKind::data,
                           [&] {
                             (void)open_image_folder(sized_options(folder, {2, 2}));
                           }),
                bad.text));
  }
}

}  // namespace trainyard
