// Data sets that are larger than what may be read or kept at once: bounds that do not depend on
// time.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "data/sets/epoch_order.h"
#include "data/sets/image_list.h"
#include "data/sets/pack.h"
#include "helpers.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// A number of this process from a file of /proc/self, "VmHWM: 1234 kB".
std::int64_t number_of_process(const char* file, const std::string& key) {
  std::ifstream lines(std::string("/proc/self/") + file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1));
  }
  FAIL("no such number");
  return 0;
}

struct ProcessNumbers {
  std::int64_t reads = number_of_process("io", "syscr");
  std::int64_t bytes = number_of_process("io", "rchar");
  std::int64_t kilobytes = number_of_process("status", "VmRSS");

  [[nodiscard]] ProcessNumbers since(const ProcessNumbers& before) const {
    return {reads - before.reads, bytes - before.bytes, kilobytes - before.kilobytes};
  }
};

constexpr int kFolders = 200, kImagesEach = 1000;

/// 200 folders of 1,000 images: names of 200 files, so that a file has no more names than file
/// systems allow.
void make_folder_of_200_000(const test::TemporaryFolder& folder) {
  for (int c = 0; c < kFolders; ++c) {
    const fs::path label = folder / ("class" + std::to_string(c));
    fs::create_directory(label);
    const std::string image = "class" + std::to_string(c) + "/0.png";
    folder.write(image, test::png_of({.w = 2, .h = 2}, std::string(12, static_cast<char>(c))));
    for (int i = 1; i < kImagesEach; ++i) {
      fs::create_hard_link(folder / image, label / (std::to_string(i) + ".png"));
    }
  }
}

/// Samples of one value each, made when they are read.
class LargeSamples final : public Dataset {
 public:
  [[nodiscard]] std::int64_t size() const override { return 14000; }
  [[nodiscard]] Shape image_shape() const override { return {3, 224, 224}; }
  [[nodiscard]] std::int64_t classes() const override { return 1; }
  [[nodiscard]] std::int32_t label(std::int64_t) const override { return 0; }
  [[nodiscard]] std::string fingerprint() const override { return "large"; }
  [[nodiscard]] bool eight_bit() const override { return true; }
  void read(std::int64_t index, float* image) const override {
    std::fill_n(image, image_shape().elements(), static_cast<float>(index % 251));
  }
  void read_bytes(std::int64_t index, std::uint8_t* image) const override {
    std::fill_n(image, image_shape().elements(), static_cast<std::uint8_t>(index % 251));
  }
};

}  // namespace

TEST_CASE("a folder of 200,000 images is opened by its headers once, then by its index alone") {
  const test::TemporaryFolder folder;
  make_folder_of_200_000(folder);
  const test::TemporaryFolder cache;
  ImageFolderOptions options;
  options.root = folder.text();
  options.memory_mib = 0;
  const Opening opening{.cache_folder = cache.text()};
  constexpr std::int64_t kImages = std::int64_t{kFolders} * kImagesEach;
  const ProcessNumbers start;
  const auto set = open_image_folder(options, opening);
  CHECK(set->size() == kImages);
  CHECK(set->classes() == kFolders);
  const ProcessNumbers first = ProcessNumbers().since(start);
  MESSAGE("first: ", first.reads, " reads, ", first.bytes, " bytes, ", first.kilobytes, " kB");
  // One read of each file.
  CHECK(first.reads >= kImages);
  CHECK(first.reads <= kImages + 1000);
  const ProcessNumbers known;
  const auto again = open_image_folder(options, opening);
  CHECK(again->fingerprint() == set->fingerprint());
  const ProcessNumbers second = ProcessNumbers().since(known);
  MESSAGE("second: ", second.reads, " reads, ", second.bytes, " bytes, ", second.kilobytes, " kB");
  CHECK(second.reads <= 2000);
  // A line of the index has about 45 bytes.
  CHECK(second.bytes <= 100 * kImages);
  // Names, labels and sizes of a set; freed memory of its opening may stay with the process.
  CHECK(first.kilobytes <= kImages * 600 / 1024);
  CHECK(second.kilobytes <= kImages * 600 / 1024);
}

TEST_CASE("at most 48 blocks of a pack of 2.1 GB stay in memory") {
  const test::TemporaryFolder folder;
  write_pack(LargeSamples(), folder / "p", {.seed = 1, .threads = 2});
  CHECK(fs::file_size(folder / "p") > 2'100'000'000);
  PackOptions options;
  options.file = (folder / "p").string();
  const auto pack = open_pack(options);
  const EpochOrder order({.seed = 1, .size = pack->size(), .block = pack->block()});
  std::vector<std::uint8_t> image(3 * 224 * 224);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < pack->size(); ++i) {
    pack->read_bytes(order[i], image.data());
    if (i % 500 == 0) most = std::max(most, test::resident_kilobytes(folder / "p"));
  }
  MESSAGE("resident: ", most, " kB");
  const std::int64_t block = pack->block() * std::ssize(image) / 1024;
  // Up to 16 pages on each side of a block, and labels and header.
  CHECK(most >= 24 * block);
  CHECK(most <= 48 * (block + 128) + 256);
}

}  // namespace trainyard
