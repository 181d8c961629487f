#include "data/sets/idx.h"

#include "../base/temporary_folder.h"
#include "expect.h"

namespace trainyard::fuzz {

namespace {

using namespace std::string_literals;

/// Three images of one pixel, and three labels.
const std::string kImages = "\0\0\x08\x03\0\0\0\3\0\0\0\1\0\0\0\1abc"s;
const std::string kLabels = "\0\0\x08\x01\0\0\0\3\0\1\2"s;

void open(const std::string& images, const std::string& labels) {
  const testing::TemporaryFolder folder;
  folder.write("images", images);
  folder.write("labels", labels);
  IdxOptions options;
  options.images = (folder / "images").string();
  options.labels = (folder / "labels").string();
  expect_readable(*open_idx(options));
}

}  // namespace

void read_idx_images(std::string_view input) { open(std::string(input), kLabels); }

void read_idx_labels(std::string_view input) { open(kImages, std::string(input)); }

}  // namespace trainyard::fuzz
