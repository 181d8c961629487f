#include "data/sets/idx.h"

#include <doctest/doctest.h>

#include "helpers.h"

namespace trainyard {

using namespace test;

namespace {

std::string images_file(std::uint32_t n, std::uint32_t h, std::uint32_t w,
                        const std::string& pixels) {
  return big_endian(0x803) + big_endian(n) + big_endian(h) + big_endian(w) + pixels;
}

std::string labels_file(const std::string& labels) {
  return big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size())) + labels;
}

const std::string kPixels("\0\1\2\3\4\5\6\7\10\11\12\377", 12);  // two images of 2 x 3
const std::string kLabels("\7\2", 2);

struct Files {
  test::TemporaryFolder folder;
  IdxOptions write(const std::string& images, const std::string& labels) const {
    IdxOptions options;
    options.images = folder.write("images", images).string();
    options.labels = folder.write("labels", labels).string();
    return options;
  }
};

std::string data_message(const IdxOptions& options) {
  return message_of(ErrorKind::data, [&] { (void)open_idx(options); });
}

void check_small_set(const Dataset& set) {
  REQUIRE(set.size() == 2);
  CHECK(set.image_shape() == Shape{1, 2, 3});
  CHECK(set.classes() == 10);
  CHECK(set.label(0) == 7);
  CHECK(set.label(1) == 2);
  float image[6];
  set.read(1, image);
  CHECK(image[0] == 6.0f);
  CHECK(image[5] == 255.0f);
}

}  // namespace

TEST_CASE("idx reads plain files") {
  const Files files;
  check_small_set(*open_idx(files.write(images_file(2, 2, 3, kPixels), labels_file(kLabels))));
}

TEST_CASE("idx reads gzip files, by their contents and not by their names") {
  const Files files;
  check_small_set(*open_idx(
      files.write(gzip_of(images_file(2, 2, 3, kPixels)), gzip_of(labels_file(kLabels)))));
}

TEST_CASE("a plain and a compressed idx file have one fingerprint") {
  const Files files;
  const std::string images = images_file(2, 2, 3, kPixels);
  const auto plain = open_idx(files.write(images, labels_file(kLabels)))->fingerprint();
  const auto packed = open_idx(files.write(gzip_of(images), labels_file(kLabels)))->fingerprint();
  CHECK(plain == packed);
}

TEST_CASE("idx finds the standard names of a split, plain or .gz") {
  const test::TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", images_file(2, 2, 3, kPixels));
  folder.write("train-labels-idx1-ubyte.gz", gzip_of(labels_file(kLabels)));
  folder.write("t10k-images-idx3-ubyte.gz", gzip_of(images_file(1, 2, 3, kPixels.substr(6))));
  folder.write("t10k-labels-idx1-ubyte", labels_file("\1"));
  IdxOptions options;
  options.root = folder.text();
  check_small_set(*open_idx(options));
  options.split = Split::test;
  CHECK(open_idx(options)->size() == 1);
}

TEST_CASE("a folder without idx files is named with what to do") {
  const test::TemporaryFolder folder;
  IdxOptions options;
  options.root = folder.text();
  options.title = "Fashion-MNIST";
  options.advice = "get it";
  CHECK(data_message(options) ==
        "cannot find Fashion-MNIST: no train-images-idx3-ubyte in '" + folder.text() + "'; get it");
}

TEST_CASE("a wrong idx magic is refused with the expected one") {
  const Files files;
  const auto options = files.write(labels_file(kLabels), labels_file(kLabels));
  CHECK(data_message(options) == "'" + options.images.string() +
                                     "' begins with 0x00000801, expected 0x00000803 (IDX images "
                                     "of bytes, [n, h, w])");
}

TEST_CASE("an idx file that ends inside its header is refused") {
  const Files files;
  const auto options = files.write(images_file(2, 2, 3, "").substr(0, 9), labels_file(kLabels));
  CHECK(data_message(options) ==
        "'" + options.images.string() + "' is not an IDX file: it ends inside its header");
}

TEST_CASE("a plain idx file that is cut off is refused by its size") {
  const Files files;
  const auto options =
      files.write(images_file(2000, 20, 30, std::string(1000, 'x')), labels_file(kLabels));
  CHECK(data_message(options) ==
        "'" + options.images.string() +
            "' claims 2000 x 20 x 30 bytes, more than a file of its size can hold (or than 8 "
            "GiB); it is damaged");
}

TEST_CASE("an idx file that holds fewer bytes than it claims is refused") {
  const Files files;
  const auto options =
      files.write(images_file(2, 2, 3, kPixels.substr(0, 11)), labels_file(kLabels));
  CHECK(data_message(options) ==
        "'" + options.images.string() + "' claims 2 x 2 x 3 bytes but holds 11; it is cut off");
}

TEST_CASE("an idx file that holds more bytes than it claims is refused") {
  const Files files;
  const auto options = files.write(images_file(1, 2, 3, kPixels), labels_file("\1"));
  CHECK(data_message(options) ==
        "'" + options.images.string() + "' claims 1 x 2 x 3 bytes but holds more; it is damaged");
}

TEST_CASE("an idx file without samples is refused") {
  const Files files;
  const auto options = files.write(images_file(0, 2, 3, ""), labels_file(""));
  CHECK(data_message(options) ==
        "'" + options.images.string() + "' claims 0 x 2 x 3 bytes: it holds no samples");
}

TEST_CASE("a header that claims 2^96 bytes is refused before anything is allocated") {
  const Files files;
  const auto options = files.write(gzip_of(images_file(0xffffffffu, 0xffffffffu, 0xffffffffu, "")),
                                   labels_file(kLabels));
  CHECK(holds(data_message(options), "more than a file of its size can hold (or than 8 GiB)"));
}

TEST_CASE("a gzip file that claims beyond deflate's ratio is refused before allocating") {
  const Files files;
  const auto options =
      files.write(gzip_of(images_file(1000000, 28, 28, kPixels)), labels_file(kLabels));
  CHECK(holds(data_message(options), "claims 1000000 x 28 x 28 bytes, more than a file of its"));
}

TEST_CASE("a truncated gzip file is refused with the byte where it ends") {
  const Files files;
  const std::string packed = gzip_of(images_file(2, 2, 3, kPixels));
  // Every cut inside the stream; the last 8 bytes are its checksum and length.
  for (std::size_t length = 10; length < packed.size(); ++length) {
    CAPTURE(length);
    const auto options = files.write(packed.substr(0, length), labels_file(kLabels));
    CHECK(data_message(options) ==
          "'" + options.images.string() + "' is a truncated gzip file: it ends at byte " +
              std::to_string(length) + ", before the end of its stream; get the file again");
  }
}

TEST_CASE("a gzip file with a flipped bit is refused") {
  const Files files;
  std::string packed = gzip_of(images_file(2, 2, 3, kPixels));
  packed[packed.size() - 12] ^= 1;
  const auto options = files.write(packed, labels_file(kLabels));
  CHECK(holds(data_message(options), "is a damaged gzip file (incorrect data check)"));
}

TEST_CASE("different counts of images and labels are refused with both") {
  const Files files;
  const auto options = files.write(images_file(2, 2, 3, kPixels), labels_file("\1\2\3"));
  CHECK(data_message(options) == "'" + options.images.string() + "' holds 2 images but '" +
                                     options.labels.string() +
                                     "' holds 3 labels; expected equal counts of one split");
}

TEST_CASE("a wrong idx label is refused with record and value") {
  const Files files;
  const auto options = files.write(images_file(2, 2, 3, kPixels), labels_file("\1\12"));
  CHECK(data_message(options) ==
        "'" + options.labels.string() + "' record 1 (from 0) has label 10, expected 0 to 9");
}

TEST_CASE("a missing idx file is named") {
  IdxOptions options;
  options.images = "/nowhere/images";
  options.labels = "/nowhere/labels";
  CHECK(data_message(options) == "cannot read '/nowhere/images': No such file or directory");
}

}  // namespace trainyard
