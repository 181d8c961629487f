#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>

#include "data/sets/image_list.h"
#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

/// A png of 2 x 1 pixels of one colour.
std::string small_png(char value) { return test::png_of({.w = 2, .h = 1}, std::string(6, value)); }

void write_two_classes(const test::TemporaryFolder& folder) {
  folder.write("dog/b.PNG", small_png(4));
  folder.write("dog/a.bmp", test::bmp_of(2, 1, std::string(6, 3)));
  folder.write("cat/10.png", small_png(2));
  folder.write("cat/1.png", small_png(1));
  folder.write("cat/readme.txt", "not an image");
  folder.write("cat/.hidden.png", "not an image");
  folder.write("list.csv", "not a class");
}

ImageFolderOptions folder_options(const test::TemporaryFolder& folder) {
  ImageFolderOptions options;
  options.root = folder.text();
  return options;
}

std::string data_message(const ImageFolderOptions& options) {
  return message_of(ErrorKind::data, [&] { (void)open_image_folder(options); });
}

/// Four images of the colours 1 to 4 with these labels.
void check_two_classes_of(const Dataset& set, const std::vector<std::int32_t>& labels) {
  REQUIRE(set.size() == 4);
  CHECK(set.image_shape() == Shape{3, 1, 2});
  CHECK(set.classes() == 2);
  CHECK(set.class_names() == std::vector<std::string>{"cat", "dog"});
  std::vector<float> image(6);
  for (std::int64_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    set.read(i, image.data());
    CHECK(image == std::vector<float>(6, static_cast<float>(i + 1)));
    CHECK(set.label(i) == labels[static_cast<std::size_t>(i)]);
  }
}

void check_two_classes(const Dataset& set) { check_two_classes_of(set, {0, 0, 1, 1}); }

}  // namespace

TEST_CASE("image_folder reads the folders below a class in the order of Keras and torchvision") {
  const test::TemporaryFolder folder;
  // sorted(os.walk(folder)), in each the sorted files: '-' comes before '/'.
  const std::vector<std::string> names{"cat/z.png", "cat/a/2.png", "cat/a-b/1.png", "cat/a/c/1.png",
                                       "dog/only/below.png"};
  for (const std::string& name : names) folder.write(name, small_png(1));
  const SampleFiles files = open_image_folder(folder_options(folder))->files();
  std::vector<std::string> read;
  for (const SampleFile& file : files.files) read.push_back(file.name);
  CHECK(read == names);
  CHECK(files.files[3].label == 0);
  CHECK(files.files[4].label == 1);
}

TEST_CASE("image_folder sorts classes and files by name and skips other files") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  const auto set = open_image_folder(folder_options(folder));
  check_two_classes(*set);
  CHECK(set->held().bytes.size() == 24);
}

TEST_CASE("image_folder decodes on reading beyond its memory limit, to the same samples") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  ImageFolderOptions options = folder_options(folder);
  const std::string fingerprint = open_image_folder(options)->fingerprint();
  options.memory_mib = 0;
  const auto set = open_image_folder(options);
  check_two_classes(*set);
  CHECK(set->held().bytes.empty());
  REQUIRE(set->eight_bit());
  std::vector<std::uint8_t> bytes(6);
  set->read_bytes(2, bytes.data());
  CHECK(bytes == std::vector<std::uint8_t>(6, 3));
  CHECK(set->fingerprint() == fingerprint);
}

TEST_CASE("image_folder may have fewer folders than classes, but not more") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  ImageFolderOptions options = folder_options(folder);
  options.classes = 3;
  for (const std::int64_t memory : {1024, 0}) {
    options.memory_mib = memory;
    const auto set = open_image_folder(options);
    CHECK(set->classes() == 3);
    CHECK(set->label(3) == 1);
  }
  options.classes = 1;
  CHECK(data_message(options) ==
        "'" + folder.text() + "/dog' is class folder 2 of 2, expected at most 1 ('classes')");
}

TEST_CASE("a file that changes its size after opening is refused when it is read") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  ImageFolderOptions options = folder_options(folder);
  options.memory_mib = 0;
  const auto set = open_image_folder(options);
  folder.write("cat/1.png", test::png_of({.w = 3, .h = 1}, std::string(9, 'x')));
  std::vector<float> image(6);
  CHECK(holds(message_of(ErrorKind::data, [&] { set->read(0, image.data()); }),
              "cat/1.png' has changed size since the run began"));
}

TEST_CASE("limit keeps every class of an image folder") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  ImageFolderOptions options = folder_options(folder);
  options.limit = 2;
  const auto set = open_image_folder(options);
  REQUIRE(set->size() == 2);
  CHECK(set->label(0) == 0);
  CHECK(set->label(1) == 1);
}

TEST_CASE("the fingerprint of an image folder changes with a file's class") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  const std::string before = open_image_folder(folder_options(folder))->fingerprint();
  std::filesystem::rename(folder.path() / "cat/10.png", folder.path() / "dog/10.png");
  CHECK(open_image_folder(folder_options(folder))->fingerprint() != before);
}

TEST_CASE("a missing image folder is refused") {
  ImageFolderOptions options;
  options.root = "/nowhere/images";
  CHECK(data_message(options) ==
        "'/nowhere/images' is not a folder; 'root' names a folder with one folder of images "
        "per class");
}

TEST_CASE("an empty image folder is refused") {
  const test::TemporaryFolder folder;
  CHECK(data_message(folder_options(folder)) ==
        "'" + folder.text() + "' holds no class folders with images; expected " + folder.text() +
            "/CLASS/*.jpg");
}

TEST_CASE("a class folder without images is refused") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  folder.write("bird/notes.txt", "none yet");
  CHECK(data_message(folder_options(folder)) ==
        "'" + folder.text() +
            "/bird' holds no image (.jpg, .png, .webp, .gif, .bmp); every class folder needs at "
            "least one");
}

TEST_CASE("an image of a format that is not read is refused by its name") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  folder.write("dog/c.TIFF", "x");
  CHECK(data_message(folder_options(folder)) ==
        "'" + folder.text() +
            "/dog/c.TIFF' is an image of another format than JPEG, PNG, WebP, GIF or BMP; convert "
            "or remove it");
}

TEST_CASE("the format of an image is that of its bytes, not of its name") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  folder.write("dog/c.jpg", small_png(5));
  const auto set = open_image_folder(folder_options(folder));
  REQUIRE(set->size() == 5);
  std::vector<float> image(6);
  set->read(4, image.data());
  CHECK(image == std::vector<float>(6, 5));
}

TEST_CASE("images of different sizes have shapes of their own") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  folder.write("dog/z.png", test::png_of({.w = 1, .h = 2}, std::string(6, 7)));
  const auto set = open_image_folder(folder_options(folder));
  CHECK(set->image_shape() == Shape{3, 0, 0});
  CHECK(set->sample_shape(0) == Shape{3, 1, 2});
  REQUIRE(set->sample_shape(4) == Shape{3, 2, 1});
  CHECK(set->held().bytes.empty());
  std::vector<float> image(6);
  set->read(4, image.data());
  CHECK(image == std::vector<float>(6, 7));
}

TEST_CASE("a pipe in an image folder is refused") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  REQUIRE(mkfifo((folder.path() / "dog/pipe.png").c_str(), 0600) == 0);
  CHECK(data_message(folder_options(folder)) ==
        "'" + folder.text() + "/dog/pipe.png' is not a regular file");
}

TEST_CASE("a truncated png is refused when the folder is opened") {
  const test::TemporaryFolder folder;
  write_two_classes(folder);
  folder.write("dog/z.png", small_png(9).substr(0, 50));
  CHECK(holds(data_message(folder_options(folder)),
              "/dog/z.png' is truncated: the chunk at byte 33"));
}

}  // namespace trainyard
